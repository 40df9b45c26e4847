//! Links programs of the dev profile to a fixed address. Without optimization they have about 300,000 addresses that a
//! position-independent program has to adjust whenever it starts, and the tests start thousands of them.

#[expect(clippy::disallowed_methods, reason = "cargo describes the build in the environment")]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|actual| actual == value);
    if is("PROFILE", "debug")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo:rustc-link-arg-bins=-no-pie");
        println!("cargo:rustc-link-arg-tests=-no-pie");
    }
}
