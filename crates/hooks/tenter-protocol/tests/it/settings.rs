//! Settings of a manifest: which rules are left with which values.

use std::path::Path;

use tenter_protocol::front_matter::Strictness;
use tenter_protocol::manifest::format::read;
use tenter_protocol::manifest::rule::{Rule, RuleVerdict};

use crate::manifests::CHECKS;

const HOOK: &str = "\
---
name: x
description: d
trigger: before_tool
metadata:
  settings:
    decision: {type: [ask, deny, off], default: ask, description: D.}
    strict: {type: boolean, default: false, description: D.}
    paths: {type: list, default: [], description: D.}
    allowed: {type: list, default: [], description: D.}
  SET
  match:
    - name: decided
      path: {op: read, glob: [a, {setting: paths}], not: {setting: allowed}}
      decision: {setting: decision}
      reason: R.
    - name: further
      path: {glob: {setting: paths}}
      except: [{program: {setting: allowed}}]
      decision: deny
      reason: R.
    - {name: strict, enabled: {setting: strict}, program: a, decision: ask, reason: R.}
    - {name: denying, enabled: {setting: decision, is: deny}, program: a, decision: ask, reason: R.}
    - {name: never, enabled: false, program: a, decision: ask, reason: R.}
---
";

fn rules(values: &str) -> Vec<Rule> {
    let set = format!("set: {{{values}}}");
    let text = HOOK.replace("SET", if values.is_empty() { "" } else { &set });
    let (manifest, diagnostics) =
        read(Path::new("/x/HOOK.md"), text.as_bytes(), Strictness::Strict, CHECKS);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    manifest.unwrap().extensions.rules
}

fn names(values: &str) -> Vec<String> {
    rules(values).into_iter().filter_map(|rule| rule.name).collect()
}

#[test]
fn values_replace_references() {
    let rules = rules("decision: deny, paths: [b, c], allowed: [c]");
    let path = rules[0].conditions.path.as_ref().unwrap();
    assert_eq!(
        (&path.glob[..], &path.not[..]),
        (&["a", "b", "c"].map(str::to_owned)[..], &["c".to_owned()][..])
    );
    assert_eq!(rules[0].decision.as_ref().unwrap().verdict, RuleVerdict::Deny);
    assert_eq!(rules[1].except[0].program, ["c"]);
}

/// A condition without patterns would hold for everything.
#[test]
fn an_empty_list_never_widens_a_rule() {
    assert_eq!(names(""), ["decided"]);
    assert_eq!(names("paths: [b]"), ["decided", "further"]);
    assert!(rules("paths: [b]")[1].except.is_empty());
}

#[test]
fn rules_are_switched_on_and_off() {
    assert_eq!(names("decision: off, strict: true"), ["strict"]);
    assert_eq!(names("decision: deny"), ["decided", "denying"]);
}

/// Without `match`, the hook would apply to every call.
#[test]
fn a_hook_without_any_rule_is_an_error() {
    let text = HOOK.replace("SET", "set: {decision: off}");
    let (manifest, diagnostics) =
        read(Path::new("/x/HOOK.md"), text.as_bytes(), Strictness::Tolerant, CHECKS);
    assert!(manifest.is_none());
    assert!(diagnostics[0].message.contains("would never run"), "{diagnostics:?}");
}
