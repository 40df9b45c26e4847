//! Tests for finding skills: precedence, shadowing, and files that are not read.

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use tenter_engine::Layer;

use super::*;

struct Fixture {
    base: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let base = TempDir::new().unwrap();
        fs::create_dir_all(base.path().join("project")).unwrap();
        fs::create_dir_all(base.path().join("home")).unwrap();
        Self { base }
    }

    /// Writes a skill to `directory`; it is valid if the description is not empty.
    fn skill(&self, directory: &str, description: &str) -> PathBuf {
        let name = directory.rsplit('/').next().unwrap();
        let text = format!("---\nname: {name}\ndescription: {description}\n---\nDo {description}.");
        self.write(&format!("{directory}/SKILL.md"), &text)
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.base.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn places(&self) -> ResourceLayout {
        let base = self.base.path();
        ResourceLayout::new(base.join("project"), base.join("home"), base.join("home/.config"))
    }

    fn skills(&self) -> Skills {
        Skills::new(&self.places())
    }

    fn found(&self, name: &str) -> String {
        match self.skills().find(name) {
            Ok(skill) => skill.description,
            Err(error) => error.to_string(),
        }
    }
}

/// Every directory that can have a skill of one name, highest precedence first.
const LEVELS: [(&str, &str, Layer); 8] = [
    ("project/.kodelet/skills/pdf", "pdf", Layer::Project),
    ("project/.agents/skills/pdf", "pdf", Layer::Project),
    ("home/.kodelet/skills/pdf", "pdf", Layer::User),
    ("home/.config/agents/skills/pdf", "pdf", Layer::User),
    ("home/.agents/skills/pdf", "pdf", Layer::User),
    ("project/.kodelet/plugins/acme@docs/skills/pdf", "acme/docs/pdf", Layer::ProjectPlugin),
    ("home/.kodelet/plugins/acme@docs/skills/pdf", "acme/docs/pdf", Layer::UserPlugin),
    ("home/.kodelet/plugins/zoe@docs/skills/pdf", "zoe/docs/pdf", Layer::UserPlugin),
];

#[test]
fn the_first_skill_of_a_name_is_used_and_the_others_are_shadowed() {
    let place = Fixture::new();
    for (directory, _, _) in LEVELS {
        place.skill(directory, directory);
    }
    for name in ["pdf", "acme/docs/pdf", "zoe/docs/pdf"] {
        let mut levels: Vec<_> = LEVELS.iter().filter(|(_, text, _)| *text == name).collect();
        while !levels.is_empty() {
            let (first, _, layer) = levels.remove(0);
            assert_eq!(place.found(name), *first);
            let (skills, findings) = place.skills().list(Strictness::Tolerant);
            assert_eq!(findings, []);
            let mut skills_of_name = skills.iter().filter(|skill| skill.origin.name == name);
            let skill = skills_of_name.next().unwrap();
            assert!(skill.is_active() && skill.origin.layer == *layer, "{skill:?}");
            let rest: Vec<_> = skills_of_name.collect();
            assert_eq!(rest.len(), levels.len());
            assert!(rest.iter().all(|other| other.shadowed_by == Some(skill.origin.path.clone())));
            fs::remove_dir_all(place.base.path().join(first)).unwrap();
        }
        assert!(place.found(name).starts_with("there is no skill"));
    }
}

#[test]
fn skills_are_ordered_by_layer() {
    let place = Fixture::new();
    for (directory, _, _) in LEVELS.iter().rev() {
        place.skill(directory, "d");
    }
    let (skills, _) = place.skills().list(Strictness::Tolerant);
    let layers: Vec<Layer> = skills.iter().map(|skill| skill.origin.layer).collect();
    assert!(layers.is_sorted(), "{layers:?}");
}

#[test]
fn a_plugins_skill_has_two_spellings_of_its_full_name() {
    let place = Fixture::new();
    place.skill("project/.kodelet/plugins/acme@docs/skills/pdf", "theirs");
    assert_eq!(place.found("acme/docs/pdf"), "theirs");
    assert_eq!(place.found("acme@docs/pdf"), "theirs");
    assert_eq!(place.found("pdf"), "there is no skill \"pdf\"; did you mean \"acme/docs/pdf\"?");
}

#[test]
fn a_broken_skill_hides_no_other_skill_and_shadows_none() {
    let place = Fixture::new();
    place.write("project/.kodelet/skills/bad/SKILL.md", "---\nname: [\n---\n");
    place.write("project/.kodelet/skills/pdf/SKILL.md", "no description");
    place.skill("project/.kodelet/skills/good", "fine");
    place.skill("home/.kodelet/skills/pdf", "mine");
    assert_eq!(place.found("good"), "fine");
    assert_eq!(place.found("pdf"), "mine");
    assert_eq!(place.found("bad"), "the skill \"bad\" cannot be used");
    let (skills, findings) = place.skills().list(Strictness::Tolerant);
    let count = skills.iter().filter(|skill| skill.is_broken).count();
    assert_eq!((skills.len(), count), (4, 2));
    assert!(skills[3].is_active(), "{:?}", skills[3]);
    let ids: Vec<&str> = findings.iter().map(|finding| finding.id).collect();
    assert!(ids.contains(&"front-matter-syntax") && ids.contains(&"skill-description"), "{ids:?}");
    assert_eq!(findings[0].span.as_ref().map(|place| place.line), Some(2));
}

#[test]
fn symlinks_out_of_a_skills_directory_are_not_read() {
    let place = Fixture::new();
    let base = place.base.path();
    place.skill("elsewhere/pdf", "secret");
    place.skill("project/.kodelet/skills/fine", "fine");
    let skills = base.join("project/.kodelet/skills");
    symlink(base.join("elsewhere/pdf"), skills.join("directory")).unwrap();
    fs::create_dir(skills.join("file")).unwrap();
    symlink(base.join("elsewhere/pdf/SKILL.md"), skills.join("file/SKILL.md")).unwrap();
    symlink(base.join("elsewhere"), base.join("project/.agents")).unwrap();
    symlink("fine", skills.join("again")).unwrap();
    let (listing, findings) = place.skills().list(Strictness::Tolerant);
    let usable: Vec<&str> = listing
        .iter()
        .filter(|skill| !skill.is_broken)
        .map(|skill| skill.origin.name.as_str())
        .collect();
    assert_eq!(usable, ["again", "fine"]);
    let outside = findings.iter().filter(|finding| finding.id == "skill-link-outside").count();
    assert_eq!(outside, 2);
    for name in ["../../../elsewhere/pdf", "..", "", "/etc", "fine/../fine", ".", "a\nb"] {
        assert!(place.found(name).starts_with("there is no skill"), "{name}");
    }
}

#[test]
fn a_skills_directory_that_leads_out_of_the_project_is_reported_and_not_read() {
    let place = Fixture::new();
    place.skill("elsewhere/pdf", "secret");
    fs::create_dir_all(place.base.path().join("project/.kodelet")).unwrap();
    symlink(place.base.path().join("elsewhere"), place.base.path().join("project/.kodelet/skills"))
        .unwrap();
    let (skills, findings) = place.skills().list(Strictness::Tolerant);
    assert_eq!((skills.len(), findings[0].id), (0, "skill-link-outside"));
    // The user's own directory may be a symlink.
    symlink(place.base.path().join("elsewhere"), place.base.path().join("home/.agents")).unwrap();
    fs::create_dir(place.base.path().join("elsewhere/skills")).unwrap();
    place.skill("elsewhere/skills/own", "mine");
    assert_eq!(place.found("own"), "mine");
}

#[test]
fn skills_of_a_project_in_the_home_directory_are_the_users() {
    let place = Fixture::new();
    place.skill("home/.kodelet/skills/pdf", "mine");
    let places = ResourceLayout { project: place.base.path().join("home"), ..place.places() };
    let (skills, _) = Skills::new(&places).list(Strictness::Tolerant);
    assert_eq!(skills.len(), 1);
    assert_eq!(skills[0].origin.layer, Layer::User);
}

#[test]
fn pipes_and_directories_instead_of_a_file_are_reported_and_do_not_block() {
    let place = Fixture::new();
    fs::create_dir_all(place.base.path().join("home/.kodelet/skills/a/SKILL.md")).unwrap();
    fs::create_dir_all(place.base.path().join("home/.kodelet/skills/b")).unwrap();
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
    let pipe = place.base.path().join("home/.kodelet/skills/b/SKILL.md");
    rustix::fs::mknodat(rustix::fs::CWD, pipe, kind, mode, 0).unwrap();
    let (skills, findings) = place.skills().list(Strictness::Tolerant);
    assert!(skills.iter().all(|skill| skill.is_broken) && skills.len() == 2);
    assert!(findings.iter().all(|finding| finding.id == "skill-unreadable"), "{findings:?}");
}

#[test]
fn a_directory_with_too_many_entries_is_cut_and_reported() {
    let place = Fixture::new();
    for number in 0..=SKILLS.max_entries {
        fs::create_dir_all(place.base.path().join(format!("home/.kodelet/skills/s{number}")))
            .unwrap();
    }
    let (_, findings) = place.skills().list(Strictness::Tolerant);
    assert_eq!(findings[0].id, "skills-too-many");
}
