
fn main() {
    let mut event = String::new();
    std::io::stdin().read_to_string(&mut event).expect("an event on stdin");
    match answer(&event) {
        None => {}
        Some(Answer::Says(json)) => println!("{json}"),
        Some(Answer::Blocks(reason)) => {
            eprintln!("{reason}");
            std::process::exit(2);
        }
    }
}

