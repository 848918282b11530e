use super::*;
use crate::sample;
use record::Disturbances;

fn footed(record: &Record) -> String {
    let selection: Vec<&Measurement> = record.measurements.iter().collect();
    foot(record, &selection, &Survey::of(record, &selection)).join("\n")
}

#[test]
fn a_library_without_aes_code_is_named_where_the_cpu_has_the_instructions() {
    let mut record = sample::record();
    record.libraries[0].instructions = Some(vec!["pclmulqdq".to_owned()]);
    let path = record.libraries[0].path.clone();
    record.measurements.iter_mut().for_each(|m| m.library.path.clone_from(&path));
    let lines =
        |record: &Record| software_aes(record, &record.measurements.iter().collect::<Vec<_>>());
    assert!(lines(&record).is_empty(), "the CPU has none either");
    record.host.cpu.features = vec!["aes".to_owned()];
    assert_eq!(lines(&record).len(), 1, "{:?}", lines(&record));
    record.libraries[0].instructions = Some(vec!["aes".to_owned()]);
    assert!(lines(&record).is_empty());
}

#[test]
fn what_an_interrupt_cut_off_is_counted_and_is_no_failure() {
    let mut record = sample::record();
    let all = record.measurements.len();
    for m in &mut record.measurements {
        (m.state, m.stopped) = (State::Failed, Some(record::Stopped::Interrupted));
        m.reason = Some("interrupted before it was measured".to_owned());
    }
    let selection: Vec<&Measurement> = record.measurements.iter().collect();
    let counted = counts(&record, &selection);
    let words = format!("0 failed, {all} NOT MEASURED: the run was interrupted");
    assert!(counted.contains(&words), "{counted}");
    let survey = Survey::of(&record, &selection);
    assert!(survey.sections.is_empty(), "nothing but what was cut off");
    let mut one = record.clone();
    one.measurements[0] = sample::record().measurements[0].clone();
    (one.measurements[0].state, one.measurements[0].stopped) = (State::Failed, None);
    let foot = footed(&one);
    assert!(foot.contains("FAILED: crash, hang or error"), "{foot}");
    assert!(foot.contains("…: not measured, because the run was interrupted"), "{foot}");
    one.measurements[0].stopped = Some(record::Stopped::Interrupted);
    assert!(!footed(&one).contains("FAILED"));
}

#[test]
fn what_there_was_no_time_for_is_counted_and_is_no_failure() {
    let mut record = sample::record();
    let m = record.measurements.iter_mut().find(|m| m.state == State::Measured).unwrap();
    (m.state, m.stopped) = (State::Failed, Some(record::Stopped::Budget));
    m.reason = Some("2 samples in the time budget, too few for a number".to_owned());
    let failed = record.measurements.iter().filter(|m| m.state == State::Failed).count() - 1;
    let selection: Vec<&Measurement> = record.measurements.iter().collect();
    let counted = counts(&record, &selection);
    let words = format!("{failed} failed, ");
    assert!(counted.contains(&words), "{counted}");
    assert!(counted.contains("1 NOT MEASURED: the time was over"), "{counted}");
    let foot = footed(&record);
    assert!(foot.contains("…: not measured, because the time was over (--budget)"), "{foot}");
}

#[test]
fn the_share_of_clean_samples_is_told_with_the_reasons_for_the_others() {
    let disturbed_by = Disturbances { switched: 10, contended: 40, ..Disturbances::default() };
    let mut noise =
        Noise { samples: 1000, clean: 950, disturbed: disturbed_by, ..Noise::default() };
    assert_eq!(
        disturbed(&noise).unwrap(),
        "95 % of 1000 samples clean; disturbed and not counted: contended 4.0 %, switched 1.0 %"
    );
    noise.clean = 500;
    assert!(disturbed(&noise).unwrap().contains("ciphermark doctor"));
    assert_eq!(disturbed(&Noise::default()), None, "a run that took none");
}

#[test]
fn imported_figures_are_counted_marked_and_their_source_is_named() {
    let mut record = sample::record();
    let m = &mut record.measurements[0];
    m.state = State::Imported;
    m.imported = Some(record::Imported {
        source: "a \u{1b}[2Jblog".to_owned(),
        machine: Some("i5".to_owned()),
    });
    let lines = footed(&record);
    let said = "†: imported, neither measured nor checked here: a [2Jblog, on i5";
    assert!(lines.contains(said), "{lines}");
    assert!(
        counts(&record, &record.measurements.iter().collect::<Vec<_>>())
            .contains("1 imported and unverified")
    );
    assert_eq!(mark(&record.measurements[0]), "†");
}

#[test]
fn a_table_with_old_and_new_releases_says_so_and_what_is_not_measured_has_no_part_in_it() {
    let mut record = sample::record();
    let lines = footed;
    assert!(!lines(&record).contains("releases of different years"), "five months apart");
    let of_gcrypt = |m: &&mut Measurement| m.library.name == "libgcrypt";
    record.measurements.iter_mut().filter(of_gcrypt).for_each(|m| {
        m.library.name = "wolfssl".to_owned();
        m.library.version = "5.9.4".to_owned();
    });
    let said = "the newest are of 2026-09, but openssl@3.0.22 2021-09 (";
    assert!(lines(&record).contains(said), "{}", lines(&record));
    let new = record.measurements.iter_mut().filter(|m| m.library.name == "wolfssl");
    new.for_each(|m| m.state = State::Unsupported);
    assert!(!lines(&record).contains("releases of different years"));
}

#[test]
fn a_number_from_a_busy_core_is_a_bound_and_says_so() {
    let mut record = sample::record();
    record.measurements[0].contended = true;
    let lines = footed(&record);
    assert!(lines.contains(">: only a busy core was seen"), "{lines}");
    assert_eq!(mark(&record.measurements[0]), ">");
}

#[test]
fn what_was_executed_tells_better_than_the_code_which_library_runs_without_aes() {
    let mut record = sample::record();
    record.host.cpu.features = vec!["aes".to_owned()];
    record.executed = vec![sample::executed()];
    // The file's code has none, and yet some were executed: from an object that it loads later.
    record.libraries[0].instructions = Some(Vec::new());
    let lines =
        |record: &Record| software_aes(record, &record.measurements.iter().collect::<Vec<_>>());
    assert_eq!(lines(&record), Vec::<String>::new());
    record.executed[0].classes.retain(|c| c.class != "aes-round");
    let found = lines(&record);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("openssl@3.0.22 executed no AES instruction at tier native"));
    assert!(found[0].contains("aes-128-gcm") && found[0].contains("built without AES"));
    // Nothing was counted, or nothing could be expected.
    record.executed[0].per_byte = None;
    assert_eq!(executed_no_aes(&record, &record.measurements.iter().collect::<Vec<_>>()).len(), 0);
}

#[test]
fn a_date_is_written_for_people_and_what_is_none_stays() {
    assert_eq!(date("2026-11-20T12:00:00Z"), "2026-11-20 12:00:00 UTC");
    assert_eq!(date("2026-11-20T12:00:00.265180205Z"), "2026-11-20 12:00:00 UTC");
    assert_eq!(date("yesterday"), "yesterday");
}
