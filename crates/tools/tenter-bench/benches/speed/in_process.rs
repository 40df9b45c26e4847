//! Benches without processes: the fold of replies into an outcome, and parsing front matter.

use std::path::Path;

use tenter_engine::inspect::{CHECKS, Outcome};
use tenter_protocol::front_matter::Strictness;
use tenter_protocol::manifest::format;
use tenter_protocol::reply::VerdictKind;
use tenter_protocol::{Reply, Rewrite, Verdict};

use crate::measure::{Times, alone};
use crate::report::Report;
use crate::scene::{self, Scene};
use crate::{Measured, Plan};

pub(crate) fn run(plan: Plan, report: &mut Report) -> Measured<()> {
    let scene = Scene::new()?;
    report.section("Replies and manifests");
    fold(plan, report, &scene)?;
    front_matter(plan, report)
}

/// Returns a thousand replies: decisions, context, and every tenth a rewrite.
fn fold(plan: Plan, report: &mut Report, scene: &Scene) -> Measured<()> {
    let body = scene.tool_call().body;
    let replies: Vec<Reply> = (0..1_000).map(reply).collect();
    let times = alone(plan.rounds(200), 1, || {
        let mut outcome = Outcome::new(body.clone());
        for reply in &replies {
            outcome.apply("hook", reply.clone())?;
        }
        Ok(outcome)
    })?;
    report.alone("fold of 1,000 replies, 100 of them rewrites", &times, "");
    Ok(())
}

fn reply(index: usize) -> Reply {
    let input = [("command".to_owned(), format!("cargo test --test t{index}").into())];
    Reply {
        verdict: Some(Verdict::new(VerdictKind::Allow, Some("it is only a test".to_owned()))),
        rewrite: index.is_multiple_of(10).then(|| Rewrite::Input(input.into_iter().collect())),
        context: index.is_multiple_of(3).then(|| "the tests take a minute".to_owned()),
        ..Reply::default()
    }
}

fn front_matter(plan: Plan, report: &mut Report) -> Measured<()> {
    for (what, notes) in [("a short manifest", 0), ("a long manifest", 200)] {
        let text = format!("---\n{}---\n# Guard\n", scene::front_matter("guard", notes));
        let path = Path::new("guard/HOOK.md");
        let times = alone(plan.rounds(100), plan.repeats(10), || {
            let result = format::read(path, text.as_bytes(), Strictness::Strict, CHECKS);
            result.0.ok_or_else(|| format!("{:?}", result.1).into())
        })?;
        let bytes = text.len();
        let by_size = format!("front matter, per kB: {what} ({bytes} bytes)");
        report.alone(by_size, &times.per(bytes as f64 / 1000.0), "");
    }
    Ok(())
}

impl Times {
    /// Returns the times divided by `parts`.
    fn per(&self, parts: f64) -> Self {
        Self::new(vec![self.minimum().div_f64(parts), self.median().div_f64(parts)])
    }
}
