//! `tenter skill show`.

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};
use tenter_agent::skill::{Skill, SkillError, Skills};
use tenter_base::{one_line, sanitize};
use tenter_terminal::{CommandResult, Exit, Failure, NAME, styled, ui};

/// Maximum number of characters of a line.
const LENGTH: usize = 1024;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name, as `tenter skill list` shows it.
    name: String,
    /// Print a JSON object: name, description, layer, path, license, compatibility, metadata, allowed_tools, instructions.
    #[arg(long)]
    json: bool,
}

/// A skill in the JSON output.
#[derive(Serialize)]
struct SkillDetails<'s> {
    name: &'s str,
    description: &'s str,
    layer: &'static str,
    path: &'s Path,
    license: Option<&'s str>,
    compatibility: Option<&'s str>,
    metadata: Map<String, Value>,
    allowed_tools: &'s [String],
    instructions: &'s str,
}

pub(super) fn run(skills: &Skills, args: &Args) -> CommandResult {
    let skill = skills.find(&args.name).map_err(|error| no_skill(&error))?;
    if args.json {
        ui::out(serde_json::to_string_pretty(&json(&skill)).unwrap_or_default());
    } else {
        for (what, text) in facts(&skill) {
            ui::out(format!("{}  {}", styled(NAME, format!("{what:13}")), one_line(&text, LENGTH)));
        }
        ui::out(format!("\n{}", sanitize(&skill.instructions)));
    }
    Ok(Exit::Done)
}

/// Returns the metadata of a skill.
fn facts(skill: &Skill) -> Vec<(&str, String)> {
    let mut facts = vec![
        ("name", skill.origin.name.clone()),
        ("description", skill.description.clone()),
        ("layer", skill.origin.layer.as_str().to_owned()),
        ("path", skill.origin.path.display().to_string()),
    ];
    facts.extend(skill.license.clone().map(|text| ("license", text)));
    facts.extend(skill.compatibility.clone().map(|text| ("compatibility", text)));
    if !skill.allowed_tools.is_empty() {
        facts.push(("allowed-tools", skill.allowed_tools.join(" ")));
    }
    let metadata = skill.metadata.iter();
    facts.extend(metadata.map(|(key, value)| ("metadata", format!("{key}: {value}"))));
    facts
}

fn json(skill: &Skill) -> SkillDetails<'_> {
    let metadata = skill.metadata.iter().map(|(key, value)| (key.clone(), value.as_str().into()));
    SkillDetails {
        name: &skill.origin.name,
        description: &skill.description,
        layer: skill.origin.layer.as_str(),
        path: &skill.origin.path,
        license: skill.license.as_deref(),
        compatibility: skill.compatibility.as_deref(),
        metadata: metadata.collect(),
        allowed_tools: &skill.allowed_tools,
        instructions: &skill.instructions,
    }
}

/// Returns the failure for a skill that is missing or broken; prints what is wrong with its file.
fn no_skill(error: &SkillError) -> Failure {
    match error {
        SkillError::Unusable { findings, .. } => {
            ui::diagnostics(findings);
            Failure::new(error.to_string())
                .help("fix the file; `tenter skill list` shows where it is")
        }
        SkillError::Unknown { .. } => {
            Failure::usage(error.to_string()).help("`tenter skill list` lists them")
        }
    }
}
