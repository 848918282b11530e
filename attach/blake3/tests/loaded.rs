//! The built object, loaded the way ciphermark loads it.

#[test]
fn the_object_says_what_it_was_built_from() {
    let library = trial::load(&trial::object(env!("CARGO_PKG_NAME")));
    let identity = library.identity();
    assert_eq!(identity.name, "blake3");
    assert_eq!(trial::fact(identity, "crate blake3 "), identity.version);
    for fact in ["rustc 1.", "profile ", "codegen-units ", "target-cpu ", "target features "] {
        trial::fact(identity, fact);
    }
    let foreign = ["ciphermark", "windows", "wasm", "crate cc "];
    for line in &identity.build {
        assert!(foreign.iter().all(|f| !line.contains(f)), "no part of the library: {line}");
    }
}

#[test]
fn everything_that_it_offers_passes_every_check() {
    let library = trial::load(&trial::object(env!("CARGO_PKG_NAME")));
    let offer = trial::whole_offer(&*library);
    assert_eq!(offer.refused, []);
    assert_eq!(offer.names, ["blake3",]);
}
