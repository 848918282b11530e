use super::*;

fn block(width: usize, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_be_bytes();
    [&length[4 - width..], body].concat()
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &block(3, body)].concat()
}

fn of_record(content: u8, body: &[u8]) -> Vec<u8> {
    [&[content, 3, 3][..], &block(2, body)].concat()
}

fn extension(kind: u16, value: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &block(2, value)].concat()
}

fn hello(random: &[u8; 32], suite: u16, extensions: &[Vec<u8>]) -> Vec<u8> {
    let all = block(2, &extensions.concat());
    let body = [&[3, 3][..], random, &[0], &suite.to_be_bytes(), &[0], &all].concat();
    message(SERVER_HELLO, &body)
}

fn client_hello(extensions: &[Vec<u8>]) -> Vec<u8> {
    let all = block(2, &extensions.concat());
    let body = [&[3, 3][..], &[7; 32], &[0], &[0, 2, 0x13, 1], &[1, 0], &all].concat();
    of_record(HANDSHAKE, &message(CLIENT_HELLO, &body))
}

fn offering_13() -> Vec<u8> {
    client_hello(&[extension(SUPPORTED_VERSIONS, &[2, 3, 4])])
}

#[test]
fn of_tls_13_version_group_and_resumption_are_in_the_server_hello() {
    let extensions = [
        extension(SUPPORTED_VERSIONS, &[3, 4]),
        extension(KEY_SHARE, &[0x11, 0xec, 0, 0]),
        extension(PRE_SHARED_KEY, &[0, 0]),
    ];
    let mut server = of_record(HANDSHAKE, &hello(&[1; 32], 0x1301, &extensions));
    server.extend(of_record(CHANGE_CIPHER_SPEC, &[1]));
    server.extend(of_record(APPLICATION_DATA, &[0; 40]));
    let seen = read_wire(&offering_13(), &server).unwrap();
    assert_eq!((seen.version, seen.suite), (0x0304, 0x1301));
    assert_eq!(seen.group, Some(Group::X25519Mlkem768));
    assert!(seen.resumed && !seen.hello_retry);
    assert_eq!(seen.client_proved, None);
    assert_eq!(last_data_record(&server), 45);
}

#[test]
fn records_of_data_are_counted_and_nothing_else_passes_for_one() {
    let data = [of_record(APPLICATION_DATA, &[0; 40]), of_record(APPLICATION_DATA, &[1; 7])];
    assert_eq!(data_records(&data.concat()), Ok(vec![40, 7]));
    assert!(data_records(&data.concat()[..50]).is_err());
    assert!(data_records(&of_record(HANDSHAKE, &[0; 40])).is_err());
    assert_eq!(data_records(&[]), Ok(Vec::new()));
}

#[test]
fn a_second_hello_is_seen_behind_a_change_cipher_spec() {
    let version = || extension(SUPPORTED_VERSIONS, &[3, 4]);
    let retry = [version(), extension(KEY_SHARE, &[0, 23])];
    let real = [version(), extension(KEY_SHARE, &[0, 23, 0, 0])];
    let mut server = of_record(HANDSHAKE, &hello(&RETRY, 0x1301, &retry));
    server.extend(of_record(CHANGE_CIPHER_SPEC, &[1]));
    server.extend(of_record(HANDSHAKE, &hello(&[1; 32], 0x1301, &real)));
    server.extend(of_record(APPLICATION_DATA, &[0; 9]));
    let mut client = offering_13();
    client.extend(of_record(CHANGE_CIPHER_SPEC, &[1]));
    client.extend(offering_13());
    let seen = read_wire(&client, &server).unwrap();
    assert!(seen.hello_retry && !seen.resumed);
    assert_eq!(seen.group, Some(Group::P256));
}

#[test]
fn of_tls_12_the_key_exchange_names_group_and_signature() {
    let exchange = [&[3, 0, 24, 1, 4][..], &[8, 4], &block(2, &[0; 4])].concat();
    let flight = [
        hello(&[1; 32], 0xc02f, &[]),
        message(CERTIFICATE, &[0; 3]),
        message(SERVER_KEY_EXCHANGE, &exchange),
    ];
    let server = of_record(HANDSHAKE, &flight.concat());
    let mut client = client_hello(&[]);
    client.extend(of_record(HANDSHAKE, &message(CERTIFICATE_VERIFY, &[0; 8])));
    let seen = read_wire(&client, &server).unwrap();
    assert_eq!((seen.version, seen.suite), (0x0303, 0xc02f));
    assert_eq!(seen.group, Some(Group::P384));
    assert_eq!(seen.signature, Some(Signature(0x0804)));
    assert_eq!((seen.resumed, seen.client_proved), (false, Some(true)));
}

#[test]
fn a_field_is_told_by_its_prime() {
    let mut prime = vec![0xff; 256];
    prime[..16].copy_from_slice(&RFC_7919);
    assert_eq!(field(&prime), Group::Ffdhe2048);
    prime[9] = 0;
    assert_eq!(field(&prime), Group::OwnDh { bits: 2048 });
    let padded = [&[0, 0x3f][..], &[1; 255]].concat();
    assert_eq!(field(&padded), Group::OwnDh { bits: 2046 });
    assert_eq!(field(&[]), Group::OwnDh { bits: 0 });
}

#[test]
fn a_resumption_of_tls_12_goes_from_the_hello_to_change_cipher_spec() {
    let mut server = of_record(HANDSHAKE, &hello(&[1; 32], 0xc02f, &[]));
    server.extend(of_record(CHANGE_CIPHER_SPEC, &[1]));
    // Encrypted: its first byte is no message's kind.
    server.extend(of_record(HANDSHAKE, &[0xee; 40]));
    let client = client_hello(&[extension(SESSION_TICKET, &[1; 20])]);
    let seen = read_wire(&client, &server).unwrap();
    assert!(seen.resumed && seen.ticket_shown && seen.group.is_none());
    // One that says in the extension too that it offers TLS 1.2 alone.
    let only_12 = [extension(SUPPORTED_VERSIONS, &[2, 3, 3]), extension(SESSION_TICKET, &[1])];
    let mut client = client_hello(&only_12);
    client.extend(of_record(CHANGE_CIPHER_SPEC, &[1]));
    client.extend(of_record(HANDSHAKE, &[0xee; 40]));
    assert!(read_wire(&client, &server).unwrap().resumed);
    let empty = client_hello(&[extension(SESSION_TICKET, &[])]);
    assert!(!read_wire(&empty, &server).unwrap().ticket_shown);
}

#[test]
fn what_is_cut_off_anywhere_is_an_error_or_says_less_and_never_panics() {
    let extensions = [extension(SUPPORTED_VERSIONS, &[3, 4]), extension(KEY_SHARE, &[0, 29])];
    let server = of_record(HANDSHAKE, &hello(&[1; 32], 0x1301, &extensions));
    for end in 0..server.len() {
        assert!(read_wire(&offering_13(), &server[..end]).is_err(), "{end}");
    }
    assert!(read_wire(&[], &server).is_ok());
}
