//! Restricts this process, layer by layer, and reports which promises hold.

use std::path::PathBuf;

use rustix::process::geteuid;
use tenter_protocol::confinement::{Confinement, DomainRule, NetworkAccess};

use crate::places::{self, MountPlan, Protected, Surroundings};
use crate::promises::PromiseReport;
use crate::proxy::{ProxyProcess, RunningProxy};
use crate::{landlock_layer, mounts, namespaces, network};

/// The layers that may be used: tests take some away to see every degraded level on one kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The newest ABI of Landlock.
    pub abi: u8,
    /// True if namespaces may be used.
    pub namespaces: bool,
    /// True if seccomp may be used.
    pub seccomp: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { abi: landlock_layer::MAX_ABI, namespaces: true, seccomp: true }
    }
}

/// The result of a restriction of this process.
#[derive(Debug)]
pub struct Restriction {
    /// The promises.
    pub promises: Vec<PromiseReport>,
    /// Protected files that the launcher has to put back, because no mount protects them.
    pub(crate) restored_files: Option<Protected>,
    /// The proxy that the command uses, which runs while this value exists.
    pub(crate) proxy: Option<RunningProxy>,
}

/// A restriction of the network.
#[derive(Debug)]
enum NetworkDemand {
    /// A network namespace with a proxy. Each list of rules must allow a host.
    Allow(Vec<Vec<DomainRule>>),
    /// A network namespace.
    Local,
    /// No sockets.
    None,
}

impl NetworkDemand {
    /// Returns what all confinements allow; `None` if that is every network.
    fn strictest(confinements: &[Confinement]) -> Option<Self> {
        match confinements.iter().map(|confinement| &confinement.network).max()? {
            NetworkAccess::Any => None,
            NetworkAccess::Local => Some(Self::Local),
            NetworkAccess::None => Some(Self::None),
            NetworkAccess::Allow(_) => {
                let lists = confinements.iter().filter_map(|one| match &one.network {
                    NetworkAccess::Allow(rules) => Some(rules.clone()),
                    _ => None,
                });
                Some(Self::Allow(lists.collect()))
            }
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Allow(_) => "network allow",
            Self::Local => "network local",
            Self::None => "network none",
        }
    }
}

/// The demands of confinements, as paths of this machine.
struct Demands {
    layers: Vec<Vec<PathBuf>>,
    /// True if hooks and settings are protected.
    protects: bool,
    protected_files: Protected,
    /// `None` if nothing is hidden; else the paths, and true if the search was not complete.
    hidden_paths: Option<(Vec<PathBuf>, bool)>,
    services: Vec<PathBuf>,
    /// The restrictions of the network, the weakest first. More than one only for the check.
    networks: Vec<NetworkDemand>,
}

impl Demands {
    fn new(confinements: &[Confinement], surroundings: &Surroundings) -> Self {
        let places = surroundings.places();
        let writes = confinements.iter().filter_map(|confinement| confinement.write.as_ref());
        let mut layers: Vec<Vec<PathBuf>> = writes.map(|words| places.writable(words)).collect();
        layers.sort();
        layers.dedup();
        let also: Vec<String> =
            confinements.iter().flat_map(|one| one.write_not.iter().cloned()).collect();
        let root = [PathBuf::from("/")];
        let writable: &[PathBuf] = match layers.first() {
            Some(places) => places,
            None => &root,
        };
        let protects_files = !layers.is_empty() || !also.is_empty();
        let protected = if protects_files {
            places.protected(writable, &also)
        } else {
            Protected { paths: Vec::new(), missing: Vec::new() }
        };
        let read_not = places::read_not(confinements);
        let hidden_paths = (!read_not.is_empty()).then(|| places.hidden(&read_not));
        let network = NetworkDemand::strictest(confinements);
        // A service may reach the network for a command that cannot.
        let hides_services = !layers.is_empty() || matches!(network, Some(NetworkDemand::Allow(_)));
        let services = if hides_services { places.services() } else { Vec::new() };
        let networks = network.into_iter().collect();
        Self {
            layers,
            protects: protects_files,
            protected_files: protected,
            hidden_paths,
            services,
            networks,
        }
    }

    fn needs_network_namespace(&self) -> bool {
        !self.networks.iter().all(|demand| matches!(demand, NetworkDemand::None))
    }

    /// Returns the rules of the proxy, if one is needed.
    fn proxy_rules(&self) -> Option<&[Vec<DomainRule>]> {
        self.networks.iter().find_map(|demand| match demand {
            NetworkDemand::Allow(rules) => Some(rules.as_slice()),
            _ => None,
        })
    }

    /// Returns the mounts.
    ///
    /// # Errors
    /// The mounts that exist are not known.
    fn plan(&self) -> Result<MountPlan, String> {
        let writable = self.layers.first().map_or(&[][..], Vec::as_slice);
        let pins =
            self.protected_files.paths.iter().flat_map(|path| places::between(path, writable));
        let mut paths =
            self.hidden_paths.as_ref().map(|(paths, _)| paths.clone()).unwrap_or_default();
        paths.extend(self.services.clone());
        paths.sort();
        let read_only = mounts::with_inner_mounts(&self.protected_files.paths)
            .map_err(|error| format!("the mounts are not known ({error})"))?;
        Ok(MountPlan { hidden_paths: paths, read_only, pinned_directories: pins.collect() }
            .without_existing())
    }
}

/// Restricts this process to what all `confinements` allow. It must have one thread.
///
/// The promises that hold are in the result: a caller decides whether they are enough. What was restricted stays so.
pub fn restrict(
    confinements: &[Confinement],
    surroundings: &Surroundings,
    limits: Limits,
) -> Restriction {
    keep(Demands::new(confinements, surroundings), surroundings, limits)
}

fn keep(demands: Demands, surroundings: &Surroundings, limits: Limits) -> Restriction {
    let plan = demands.plan();
    let is_namespaced = demands.needs_network_namespace() && !network::is_refused();
    // The proxy stays in the network in which this process is now.
    let process = demands
        .proxy_rules()
        .filter(|_| is_namespaced)
        .map(|rules| ProxyProcess::start(rules, &surroundings.env));
    let has_mounts = plan.as_ref().is_ok_and(|plan| !plan.is_empty());
    let result = enter(has_mounts, is_namespaced, limits);
    let mounted = match plan {
        Ok(plan) if plan.is_empty() => Ok(()),
        Ok(plan) => result.clone().and_then(|()| plan.apply()).and_then(|()| reopen(surroundings)),
        Err(why) => Err(why),
    };
    let loopback =
        if is_namespaced { result.and_then(|()| network::start_loopback()) } else { Ok(()) };
    let proxy = match process {
        Some(process) => loopback.clone().and(process).and_then(ProxyProcess::listen).map(Some),
        None => loopback.clone().map(|()| None),
    };
    let abi = landlock_layer::abi(limits.abi);
    let landlocked = match abi {
        0 => Err("this kernel has no Landlock".to_owned()),
        _ => landlock_layer::restrict(&demands.layers, abi),
    };
    let mut promises = Vec::new();
    if !demands.layers.is_empty() {
        promises.push(write_promise(abi, &landlocked));
    }
    if demands.protects {
        promises.push(protected_promise(&demands.protected_files, &mounted));
    }
    if let Some((_, is_truncated)) = demands.hidden_paths {
        promises.push(read_promise(is_truncated, &mounted, &landlocked));
    }
    for demand in &demands.networks {
        let namespace = match demand {
            NetworkDemand::Allow(_) => proxy.as_ref().map(Option::as_ref).map_err(String::as_str),
            _ => loopback.as_ref().map(|()| None).map_err(String::as_str),
        };
        promises.push(network_promise(demand, namespace, limits));
    }
    promises.push(scope_promise("signals", abi, &landlocked));
    promises.push(scope_promise("sockets", abi, &landlocked));
    if !demands.layers.is_empty() || proxy.as_ref().is_ok_and(Option::is_some) {
        promises.push(services_promise(abi, &mounted));
    }
    let needs_copies = mounted.is_err() && demands.protects;
    let protected = needs_copies.then_some(demands.protected_files);
    Restriction { promises, restored_files: protected, proxy: proxy.unwrap_or_default() }
}

fn enter(mounts: bool, network: bool, limits: Limits) -> Result<(), String> {
    match (mounts || network, limits.namespaces) {
        (false, _) => Ok(()),
        (true, true) => namespaces::enter(mounts, network),
        (true, false) => Err("no namespaces are used".to_owned()),
    }
}

/// Enters the working directory again: it may be below a new mount. Closes other directories, whose paths are outside of the mounts.
fn reopen(surroundings: &Surroundings) -> Result<(), String> {
    let failure = |what: &str, error: &dyn std::fmt::Display| format!("{what}: {error}");
    std::env::set_current_dir(&surroundings.cwd)
        .map_err(|error| failure("the working directory cannot be entered", &error))?;
    let entries = std::fs::read_dir("/proc/self/fd")
        .map_err(|error| failure("open descriptors are not known", &error))?;
    let numbers = entries.flatten().map(|entry| entry.file_name());
    // The list is closed before its numbers are looked at: it has a number, too.
    let numbers: Vec<_> = numbers.collect();
    for name in numbers {
        let number = name.to_str().and_then(|name| name.parse::<i32>().ok());
        let is_directory = std::fs::metadata(std::path::Path::new("/proc/self/fd").join(&name))
            .is_ok_and(|data| data.is_dir());
        if let Some(number) = number.filter(|number| *number > 2 && is_directory) {
            let _ = nix::unistd::close(number);
        }
    }
    Ok(())
}

fn write_promise(abi: u8, landlocked: &Result<(), String>) -> PromiseReport {
    match landlocked {
        Err(why) => PromiseReport::not_kept("write", why),
        Ok(()) if abi < landlock_layer::MIN_ABI => PromiseReport::not_kept(
            "write",
            format!(
                "Landlock has ABI {abi}; truncation and renaming need {}",
                landlock_layer::MIN_ABI
            ),
        ),
        Ok(()) => PromiseReport::kept("write", format!("Landlock, ABI {abi}")),
    }
}

fn protected_promise(protected: &Protected, mounted: &Result<(), String>) -> PromiseReport {
    match mounted {
        Ok(()) if protected.missing.is_empty() => {
            PromiseReport::kept("protected", "read-only mounts")
        }
        Ok(()) => PromiseReport::partly(
            "protected",
            "read-only mounts; files that do not exist yet can be created",
        ),
        Err(why) if protected.paths.is_empty() => PromiseReport::kept("protected", why),
        Err(why) => PromiseReport::partly(
            "protected",
            format!("what the command changes is put back when it ends: {why}"),
        ),
    }
}

fn read_promise(
    is_truncated: bool,
    mounted: &Result<(), String>,
    landlocked: &Result<(), String>,
) -> PromiseReport {
    match (mounted, landlocked) {
        (Err(why), _) => PromiseReport::not_kept("read_not", why),
        (Ok(()), Err(why)) if geteuid().is_root() => {
            PromiseReport::not_kept("read_not", format!("root could unmount: {why}"))
        }
        (Ok(()), Err(why)) => PromiseReport::partly(
            "read_not",
            format!("other processes show their files, because {why}"),
        ),
        (Ok(()), Ok(())) if is_truncated => {
            PromiseReport::partly("read_not", "the project is too large to be searched completely")
        }
        (Ok(()), Ok(())) => PromiseReport::kept("read_not", "mounts over what exists now"),
    }
}

/// Restricts the sockets last: the other layers need some that it refuses. `namespace` has the proxy, if there is one.
fn network_promise(
    demand: &NetworkDemand,
    namespace: Result<Option<&RunningProxy>, &str>,
    limits: Limits,
) -> PromiseReport {
    let name = demand.name();
    let families: &[i32] = match demand {
        NetworkDemand::None => &network::UNIX,
        _ => &network::NAMESPACED,
    };
    let filter = if limits.seccomp {
        network::refuse_sockets_except(families)
    } else {
        Err("no seccomp is used".to_owned())
    };
    let proxy = match (demand, namespace, filter) {
        (NetworkDemand::None, _, Ok(())) => {
            return PromiseReport::kept(name, "seccomp: only Unix sockets");
        }
        (NetworkDemand::None, _, Err(why)) => return PromiseReport::not_kept(name, why),
        (_, Err(why), _) => return PromiseReport::not_kept(name, why),
        (_, Ok(_), Err(why)) => {
            let why = format!("a network namespace; sockets between machines stay possible: {why}");
            return PromiseReport::partly(name, why);
        }
        (_, Ok(proxy), Ok(())) => proxy,
    };
    match proxy {
        Some(proxy) if proxy.has_upstream() => PromiseReport::partly(
            name,
            "a network namespace and a proxy; another proxy resolves the names",
        ),
        Some(_) => PromiseReport::kept(name, "a network namespace and a proxy"),
        None if network::is_refused() => PromiseReport::kept(name, "no sockets are possible here"),
        None => PromiseReport::kept(name, "a network namespace with loopback"),
    }
}

fn scope_promise(name: &'static str, abi: u8, landlocked: &Result<(), String>) -> PromiseReport {
    match landlocked {
        Err(why) => PromiseReport::not_kept(name, why),
        Ok(()) if abi < landlock_layer::SCOPE_ABI => PromiseReport::not_kept(
            name,
            format!("Landlock has ABI {abi}; this needs {}", landlock_layer::SCOPE_ABI),
        ),
        Ok(()) => PromiseReport::kept(name, format!("Landlock, ABI {abi}")),
    }
}

fn services_promise(abi: u8, mounted: &Result<(), String>) -> PromiseReport {
    match mounted {
        _ if abi >= landlock_layer::SERVICE_ABI => {
            PromiseReport::kept("services", format!("Landlock, ABI {abi}"))
        }
        Ok(()) => PromiseReport::partly("services", "mounts over the sockets of known services"),
        Err(why) => PromiseReport::not_kept("services", why),
    }
}

/// Checks which promises this machine keeps. This process is restricted by that.
pub fn check(surroundings: &Surroundings, limits: Limits) -> Vec<PromiseReport> {
    let standard: Vec<Confinement> = Confinement::built_in("standard").into_iter().collect();
    let mut demands = Demands::new(&standard, surroundings);
    demands.networks =
        vec![NetworkDemand::Allow(vec![Vec::new()]), NetworkDemand::Local, NetworkDemand::None];
    keep(demands, surroundings, limits).promises
}
