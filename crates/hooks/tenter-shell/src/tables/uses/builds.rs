//! Commands of build tools and package managers.

use super::Operands::{Nothing, Without};
use super::UseKind::Builds;
use super::{BUILDS, READS, Uses};

const CARGO: &str = "-p= --package= --workspace --all --exclude= --lib --bins --bin= --examples --example= --tests --test= --benches \
                     --bench= --all-targets --features= -F= --all-features --no-default-features --release -r --profile= --locked \
                     --offline --frozen -q --quiet -v --verbose --message-format= --color= -j= --jobs= --target=";

/// The commands, with their options.
pub(super) const USES: &[Uses] = &[
    Uses {
        names: &["cargo build", "cargo check", "cargo b", "cargo c", "cargo doc"],
        kind: Builds,
        options: "-p= --package= --workspace --all --exclude= --lib --bins --bin= --examples --example= --tests --test= --benches \
                  --bench= --all-targets --features= -F= --all-features --no-default-features --release -r --profile= --locked \
                  --offline --frozen -q --quiet -v --verbose --message-format= --color= -j= --jobs= --target= --no-deps --keep-going \
                  --document-private-items",
        operands: Nothing,
        after: "",
    },
    Uses {
        names: &["cargo test", "cargo t", "cargo bench"],
        options: "-p= --package= --workspace --all --exclude= --lib --bins --bin= --examples --example= --tests --test= --benches \
                  --bench= --all-targets --features= -F= --all-features --no-default-features --release -r --profile= --locked \
                  --offline --frozen -q --quiet -v --verbose --message-format= --color= -j= --jobs= --target= --no-run --no-fail-fast \
                  --doc",
        after: "--nocapture --no-capture --exact --ignored --include-ignored --show-output --list --test-threads= --skip= -q --quiet \
                --color=",
        ..BUILDS
    },
    Uses {
        names: &["cargo clippy"],
        options: CARGO,
        operands: Nothing,
        after: "-D= -W= -A= -F= --deny= --warn= --allow=",
        ..BUILDS
    },
    Uses {
        names: &["cargo fmt"],
        options: "-p= --package= --all --check -q -v",
        operands: Nothing,
        after: "--check",
        ..BUILDS
    },
    Uses {
        names: &["cargo tree", "cargo metadata", "cargo --version"],
        options: "-p= --package= --workspace --depth= -i= --invert= -e= --edges= -d --duplicates --format-version= --no-deps --locked \
                  --offline --features= -F= --all-features --no-default-features -q -v --color= --prefix= --target=",
        operands: Nothing,
        ..BUILDS
    },
    Uses {
        names: &["go build", "go test", "go vet"],
        options: "-v -run= -race -short -count= -timeout= -bench= -benchmem -cover -json -tags= -failfast -parallel= -p= -skip=",
        ..BUILDS
    },
    Uses { names: &["go list"], options: "-m -json -f= -deps -test -e", ..BUILDS },
    Uses { names: &["go version", "go env"], options: "-json", ..READS },
    Uses {
        names: &["pytest"],
        options: "-q -v -x -s -l -k= -m= --tb= --lf --ff --last-failed --failed-first --maxfail= --collect-only --co -rA -ra \
                  --durations= --no-header --exitfirst --quiet --verbose",
        ..BUILDS
    },
    Uses { names: &["npm test", "npm t"], operands: Nothing, ..BUILDS },
    Uses {
        names: &["npm ls", "npm list"],
        options: "--all -a --depth= --json --omit= --long",
        ..READS
    },
    Uses {
        names: &["npm view", "npm info", "npm outdated"],
        options: "--json --long",
        operands: Without(":"),
        ..READS
    },
    Uses {
        names: &["pip list", "pip show", "pip freeze", "pip check"],
        options: "--outdated -o --format= -f --files --local -l",
        ..READS
    },
];
