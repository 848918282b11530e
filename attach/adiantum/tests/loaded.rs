//! The built object, loaded the way ciphermark loads it.
#[test]
fn it_says_what_it_was_built_from_and_all_that_it_offers_passes_every_check() {
    let library = testing::trial::built_object(env!("CARGO_PKG_NAME"), "adiantum", "adiantum");
    let offer = testing::trial::whole_offer(&*library);
    assert_eq!(offer.refused, []);
    assert_eq!(offer.names, ["adiantum", "adiantum-xchacha20"]);
}
