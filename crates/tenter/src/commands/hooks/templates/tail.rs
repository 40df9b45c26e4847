
fn main() {
    if std::env::args().nth(1).as_deref() == Some("hook") {
        println!("{EVENT}");
        return;
    }
    let mut payload = String::new();
    std::io::stdin().read_to_string(&mut payload).expect("a payload on stdin");
    if let Some(answer) = answer(&payload) {
        println!("{answer}");
    }
}

