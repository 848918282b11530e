//! What every page has in common: styles, scripts, the chart library.

include!(concat!(env!("OUT_DIR"), "/uplot.rs"));

/// Our own styles, in the order in which they apply.
const STYLES: [&str; 4] = [
    include_str!("../../assets/css/base.css"),
    include_str!("../../assets/css/controls.css"),
    include_str!("../../assets/css/views.css"),
    include_str!("../../assets/css/print.css"),
];

/// Our own scripts, one idea each, in the order in which they build on each other.
const SCRIPTS: [&str; 26] = [
    include_str!("../../assets/js/dom.js"),
    include_str!("../../assets/js/numbers.js"),
    include_str!("../../assets/js/unpack.js"),
    include_str!("../../assets/js/data.js"),
    include_str!("../../assets/js/samples.js"),
    include_str!("../../assets/js/state.js"),
    include_str!("../../assets/js/select.js"),
    include_str!("../../assets/js/theme.js"),
    include_str!("../../assets/js/controls.js"),
    include_str!("../../assets/js/table.js"),
    include_str!("../../assets/js/svg.js"),
    include_str!("../../assets/js/speed.js"),
    include_str!("../../assets/js/ladder.js"),
    include_str!("../../assets/js/heat.js"),
    include_str!("../../assets/js/costs.js"),
    include_str!("../../assets/js/instructions.js"),
    include_str!("../../assets/js/secrets.js"),
    include_str!("../../assets/js/distribution.js"),
    include_str!("../../assets/js/problems.js"),
    include_str!("../../assets/js/machine.js"),
    include_str!("../../assets/js/stores.js"),
    include_str!("../../assets/js/tampering.js"),
    include_str!("../../assets/js/nonces.js"),
    include_str!("../../assets/js/tls.js"),
    include_str!("../../assets/js/advice.js"),
    include_str!("../../assets/js/main.js"),
];

/// Styles and scripts as they stand in the page.
pub(crate) struct Assets {
    /// Licence of the chart library, which asks to go with it.
    pub(crate) licence: &'static str,
    /// Styles.
    pub(crate) style: String,
    /// The chart library.
    pub(crate) library: String,
    /// Our own scripts, as one.
    pub(crate) script: String,
}

/// What was embedded when the program was built; `None` without the chart library.
pub(crate) fn embedded() -> Option<Assets> {
    let (library, style, licence) = (UPLOT_JS?, UPLOT_CSS?, UPLOT_LICENCE?);
    Some(Assets {
        licence,
        style: format!("{style}\n{}", STYLES.join("\n")),
        library: library.trim().to_owned(),
        // One scope for all of them and none for anybody else.
        script: format!("(() => {{\n\"use strict\";\n{}\n}})();", SCRIPTS.join("\n")),
    })
}

#[cfg(test)]
mod tests {
    use base::model::Tier;

    #[test]
    fn the_page_knows_every_tier_and_which_are_machines() {
        let script = include_str!("../../assets/js/data.js");
        let list = |machines: bool| {
            let tiers = Tier::ALL.iter().filter(|t| t.is_machine() == machines);
            tiers.map(|t| format!("\"{t}\"")).collect::<Vec<_>>().join(", ")
        };
        assert!(script.contains(&format!("const MACHINES = [{}];", list(true))));
        assert!(script.contains(&format!("tiers: [{}, ...MACHINES],", list(false))));
    }
}
