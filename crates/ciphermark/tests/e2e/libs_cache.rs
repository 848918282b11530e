//! The cache of `libs/build`: a library is built once on a machine.

use crate::libs::{COMPILE, Driver};
use crate::support::*;
use std::path::PathBuf;

/// [`COMPILE`], leaving a line for each time.
const COUNTED: &str =
    "echo once >>\"$MARKS/followed\"; cc -shared -o \"$OUT/$object\" -x c - <<< 'int answer = 42;'";

impl Driver {
    /// As `builds`, in a checkout where nothing was built yet.
    fn builds_in_another_checkout(&self) -> String {
        std::fs::remove_dir_all(self.path("target")).unwrap();
        self.builds()
    }

    /// How often a recipe that is [`COUNTED`] was followed.
    fn followed(&self) -> usize {
        std::fs::read_to_string(self.path("followed")).unwrap().lines().count()
    }

    /// One of the files of the only entry and recipe in the cache.
    fn cached(&self, file: &str) -> PathBuf {
        let mut recipes = std::fs::read_dir(self.path("cache/one")).unwrap();
        let only = recipes.next().unwrap().unwrap().path();
        assert!(recipes.next().is_none());
        only.join(file)
    }
}

#[test]
fn a_checkout_takes_what_another_one_has_built_from_the_cache() {
    let driver = Driver::new(&[("one", COUNTED)]);
    driver.builds();
    let read = |file: &str| std::fs::read(driver.built(file)).unwrap();
    let files = ["one/libone.so", "one/library.toml", "one/.stamp"];
    let before = files.map(read);
    let text = driver.builds_in_another_checkout();
    assert!(text.contains("one taken from the cache"), "{text}");
    assert_eq!((driver.followed(), files.map(read)), (1, before));
    assert!(!driver.built("one/.sums").exists());
    let again = driver.builds();
    assert!(again.contains("one is there"), "{again}");
}

#[test]
fn a_changed_recipe_is_followed_whatever_the_cache_has_and_both_results_are_kept() {
    let driver = Driver::new(&[("one", COUNTED)]);
    driver.builds();
    driver.write("one", COUNTED, "# changed");
    driver.builds();
    driver.write("one", COUNTED, "depends() { echo another machine; }");
    driver.builds_in_another_checkout();
    assert_eq!(driver.followed(), 3);
    driver.write("one", COUNTED, "");
    let text = driver.builds();
    assert!(text.contains("one taken from the cache"), "{text}");
    assert_eq!(driver.followed(), 3);
}

#[test]
fn a_copy_in_the_cache_that_is_damaged_is_found_and_built_again() {
    let driver = Driver::new(&[("one", COUNTED)]);
    driver.builds();
    let damages: [(&str, &dyn Fn(PathBuf)); 4] = [
        ("libone.so", &|file| std::fs::write(file, "half of it").unwrap()),
        ("libone.so", &|file| std::fs::remove_file(file).unwrap()),
        (".sums", &|file| std::fs::write(file, "").unwrap()),
        ("more.so", &|file| std::fs::write(file, "of a stranger").unwrap()),
    ];
    for (n, (file, damage)) in damages.into_iter().enumerate() {
        damage(driver.cached(file));
        let text = driver.builds_in_another_checkout();
        assert!(text.contains("one is damaged in the cache"), "{file}: {text}");
        assert_eq!(driver.followed(), n + 2);
        assert!(driver.built("one/libone.so").is_file() && !driver.built("one/more.so").exists());
        let text = driver.builds_in_another_checkout();
        assert!(text.contains("one taken from the cache"), "{file}: {text}");
    }
}

#[test]
fn what_the_cache_has_is_listed_with_size_and_age_and_removed_on_demand() {
    let driver = Driver::new(&[("one", COUNTED), ("two", COMPILE)]);
    driver.run(&["one"]);
    let listed = driver.run(&["--list"]).text;
    let line = |entry: &str| listed.lines().find(|l| l.starts_with(entry)).unwrap();
    assert!(line("one").contains(" MB, 0 days "), "{listed}");
    assert!(line("two").contains(" - ") && line("two").ends_with(" missing"), "{listed}");
    assert!(line("cache: ").contains(arg(&driver.path("cache"))), "{listed}");
    assert_eq!(driver.run(&["--clean"]).code, Some(0));
    assert!(!driver.path("cache").exists() && !driver.path("target/libs").exists());
}

#[test]
fn without_a_cache_nothing_is_kept_or_taken() {
    let driver = Driver::new(&[("one", COUNTED)]);
    for _ in 0..2 {
        let status = driver.command(&["one"]).env("LIBS_CACHE", "").output().unwrap().status;
        assert!(status.success());
        std::fs::remove_dir_all(driver.path("target")).unwrap();
    }
    assert!(driver.followed() == 2 && !driver.path("cache").exists());
}
