//! The field `confine` of a recipe: the rights of the programs that it starts (F11).

use serde_json::Value;
use tenter_base::or_list;
use tenter_engine::configuration::ConfineProfiles;
use tenter_protocol::confinement::Confinement;
use tenter_protocol::front_matter::{Code, Field, Report};

const FIELD: Code = Code::error("recipe-field");

/// Returns the confinements that `confine` means: the name of a profile, or the fields of a confinement.
pub(super) fn confinements(
    field: &Field,
    profiles: &ConfineProfiles,
    report: &mut Report<'_>,
) -> Vec<Confinement> {
    let confinement = match field.value.to_json() {
        Value::String(profile) => {
            Ok(Confinement { profile: Some(profile), ..Confinement::default() })
        }
        fields @ Value::Object(_) => {
            serde_json::from_value(fields).map_err(|error| error.to_string())
        }
        _ => Err("neither the name of a profile nor a mapping".to_owned()),
    };
    confinement.and_then(|confinement| profiles.expand(confinement)).unwrap_or_else(|why| {
        let names = or_list(&Confinement::BUILT_IN);
        let help = format!(
            "write {names}, one of your `[confine.profiles.NAME]`, or, for example, `{{write: [project, temp], network: none}}`"
        );
        report.add(&FIELD, &field.value.at, format!("`confine`: {why}"), help);
        Vec::new()
    })
}

#[cfg(test)]
mod tests {
    use tenter_protocol::Diagnostic;
    use tenter_protocol::confinement::{NetworkAccess, Otherwise};

    use super::super::{Recipe, RecipeLayer, RecipeOrigin};
    use super::*;

    fn read(text: &str) -> (Option<Recipe>, Vec<Diagnostic>) {
        let origin = RecipeOrigin { layer: RecipeLayer::User, path: "r.md".into() };
        Recipe::read("r", origin, text.as_bytes(), &ConfineProfiles::default())
    }

    #[test]
    fn programs_are_confined_by_a_profile_or_by_fields_and_an_unknown_value_is_an_error() {
        let confinements =
            |value: &str| read(&format!("---\nconfine: {value}\n---\nx")).0.unwrap().confinements;
        assert_eq!(confinements("pure"), [Confinement::built_in("pure").unwrap()]);
        assert_eq!(confinements("{}"), [Confinement::built_in("standard").unwrap()]);
        let own = &confinements("{profile: build, network: none, otherwise: run}")[..];
        let [build, own] = own else { panic!("{own:?}") };
        assert_eq!((build.label(), build.otherwise), ("build", Some(Otherwise::Run)));
        assert_eq!(own.network, NetworkAccess::None);
        assert_eq!(read("---\nname: x\n---\nx").0.unwrap().confinements, []);
        for (line, why) in [
            ("confine: bild", "there is no profile \"bild\""),
            ("confine: {wirte: []}", "unknown field `wirte`"),
            ("confine: [pure]", "neither the name of a profile nor a mapping"),
            ("confine:", "neither the name of a profile nor a mapping"),
            ("confin: pure", "looks like a restriction"),
            ("metadata: {confine: pure}", "there is a restriction below it"),
        ] {
            let (recipe, diagnostics) = read(&format!("---\nname: x\n{line}\n---\nx"));
            let [error] = &diagnostics[..] else { panic!("{diagnostics:?}") };
            assert!(
                recipe.is_none() && error.span.as_ref().is_some_and(|span| span.line == 3),
                "{error:?}"
            );
            assert!(error.message.contains(why), "{error:?}");
        }
        let config = read("---\nmetadata: {config: x}\n---\nx");
        assert!(config.0.is_some(), "{:?}", config.1);
    }
}
