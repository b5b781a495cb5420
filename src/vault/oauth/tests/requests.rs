use super::*;

fn request(change: impl FnOnce(&mut Refresh)) -> TokenRequest {
    let mut oauth = oauth(Some(0));
    change(oauth.refresh.as_mut().unwrap());
    begin(&mut oauth, NOW).0
}

#[test]
fn a_public_client() {
    let request = request(|refresh| refresh.refresh_token = Secret::new("a&b=c+d e/\u{e9}"));
    assert_eq!(request.url, "https://id.example.com/token");
    assert_eq!(request.authorization, None);
    assert_eq!(
        request.form.expose(),
        "grant_type=refresh_token&refresh_token=a%26b%3Dc%2Bd+e%2F%C3%A9&client_id=client"
    );
}

#[test]
fn a_secret_in_the_header() {
    let secret = Secret::new("s:e/c");
    let request = request(|refresh| {
        refresh.client_id = "my client".to_owned();
        refresh.client = ClientAuth::Basic { secret };
    });
    // my+client:s%3Ae%2Fc
    let wanted = "Basic bXkrY2xpZW50OnMlM0FlJTJGYw==";
    assert_eq!(request.authorization, Some(Secret::new(wanted)));
    assert_eq!(
        request.form.expose(),
        "grant_type=refresh_token&refresh_token=refresh-1"
    );
    assert!(!format!("{request:?}").contains("refresh-1"));
}

#[test]
fn a_secret_in_the_form_with_resource_and_scope() {
    let secret = Secret::new("s e");
    let request = request(|refresh| {
        refresh.client = ClientAuth::Post { secret };
        refresh.resource = Some("https://mcp.example.com/".to_owned());
        refresh.scope = Some("read write".to_owned());
    });
    assert_eq!(request.authorization, None);
    assert_eq!(
        request.form.expose(),
        "grant_type=refresh_token&refresh_token=refresh-1&client_id=client&client_secret=s+e\
         &resource=https%3A%2F%2Fmcp.example.com%2F&scope=read+write"
    );
}
