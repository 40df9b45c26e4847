//! Programs that run what they decode or download, recognised by the names of functions in what they run.

use super::literals::Source;

const DECODES: &[&str] = &[
    "b64decode",
    "b32decode",
    "b85decode",
    "a85decode",
    "decode_base64",
    "base64_decode",
    "Base64.decode",
    "decode64",
    "atob(",
    "fromhex",
    "unhexlify",
    "codecs.decode",
    "decompress(",
    "gzinflate",
    "str_rot13",
    "fromCharCode",
    "pack(",
    "unpack1(",
    "'base64'",
    "\"base64\"",
    "'hex'",
    "\"hex\"",
];

const DOWNLOADS: &[&str] = &[
    "socket.http\").request(",
    "socket.http').request(",
    "urlopen(",
    "requests.get",
    "requests.post",
    "httpx.get",
    "urlretrieve",
    "fetch(",
    "axios",
    "http.get",
    "https.get",
    "Net::HTTP",
    "URI.open",
    "URI(",
    "open-uri",
    "LWP::",
    "get(\"http",
    "get('http",
    "get \"http",
    "get 'http",
    "file_get_contents(\"http",
    "file_get_contents('http",
    "curl_exec",
    "recv(",
    ":receive(",
    "url(\"http",
    "url('http",
    "download(\"http",
    "download('http",
    "\"curl ",
    "'curl ",
    "`curl ",
    "\"wget ",
    "'wget ",
    "`wget ",
];

/// Names of what a program reads: its standard input, and the line of it that a loop around the program has read.
const INPUTS: &[&str] = tenter_base::words!(
    "sys.stdin process.stdin io.stdin $stdin STDIN input( readline( gets readFileSync(0 /dev/stdin
     ARGF <> $_ $0"
);

/// Calls that open a connection to another machine.
const SOCKETS: &[&str] = tenter_base::words!(
    "socket.socket( IO::Socket TCPSocket fsockopen( net.connect( net.Socket( createConnection(
     (\"net\").connect ('net').connect socket.tcp( net.Dial( TcpStream::connect TCPClient
     Deno.connect("
);

/// Expressions with all variables of the environment.
const ENVIRONMENTS: &[&str] = tenter_base::words!(
    "print(os.environ) console.log(process.env) dict(os.environ) str(os.environ)
     json.dumps(os.environ os.environ.items() JSON.stringify(process.env)
     Object.entries(process.env) ENV.to_h ENV.to_a os.Environ()"
);

/// The origin of what a call runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) decodes: bool,
    pub(super) downloads: bool,
    pub(super) reads_input: bool,
}

/// Maximum number of variables in one call whose values are looked at.
const MAX_VARIABLES: usize = 32;

pub(crate) fn decodes(text: &str) -> bool {
    DECODES.iter().any(|name| text.contains(name))
}

pub(super) fn downloads(text: &str) -> bool {
    DOWNLOADS.iter().any(|name| text.contains(name))
}

pub(super) fn opens_socket(text: &str) -> bool {
    SOCKETS.iter().any(|name| text.contains(name))
}

fn reads_input(text: &str) -> bool {
    INPUTS.iter().any(|name| text.contains(name))
}

/// Checks whether a program contains all variables of its environment.
pub(super) fn has_environment(text: &str) -> bool {
    ENVIRONMENTS.iter().any(|name| text.contains(name))
}

/// Returns what the arguments of a call, or the variables in them, decode, download or read.
pub(super) fn trace_arguments(source: &Source<'_>, at: usize) -> Origin {
    let arguments = source.raw_arguments(at);
    let mut origin = Origin::default();
    origin.add(arguments);
    let mut open: Vec<(&str, usize)> = variables(arguments).map(|name| (name, at)).collect();
    let mut looked_at = 0;
    while let Some((name, before)) = open.pop() {
        looked_at += 1;
        if looked_at > MAX_VARIABLES {
            break;
        }
        let Some((place, value)) = source.assigned(name, before) else { continue };
        let value = value.split(['\n', ';']).next().unwrap_or_default();
        origin.add(value);
        open.extend(variables(value).map(|name| (name, place)));
    }
    origin
}

impl Origin {
    fn add(&mut self, text: &str) {
        self.decodes |= decodes(text);
        self.downloads |= downloads(text);
        self.reads_input |= reads_input(text);
    }
}

/// Returns the names in an expression.
fn variables(expression: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '@');
    expression
        .split(move |c| !is_part(c))
        .filter(|name| !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()))
        .take(MAX_VARIABLES)
}
