use worker::Request;

/// The parts of a URL as the runtime's own parser reads them, which is the one that dials: what is judged is what is meant.
pub struct Address(web_sys::Url);

impl Address {
    /// Reads a URL.
    pub fn parse(url: &str) -> Option<Self> {
        web_sys::Url::new(url).ok().map(Self)
    }

    /// Where a request was sent.
    pub fn of(request: &Request) -> worker::Result<Self> {
        Self::parse(&request.inner().url()).ok_or_else(|| "the request's URL is malformed".into())
    }

    /// Whether it is `http:` on the default port, with nothing but a path.
    pub fn is_plain(&self) -> bool {
        let bare = self.0.username().is_empty() && self.0.password().is_empty();
        self.0.protocol() == "http:"
            && self.0.port().is_empty()
            && self.0.search().is_empty()
            && bare
    }

    /// The host, without a port.
    pub fn host(&self) -> String {
        self.0.hostname()
    }

    /// The path, encoded as it came.
    pub fn path(&self) -> String {
        self.0.pathname()
    }

    /// The query, encoded as it came, without the question mark.
    pub fn query(&self) -> String {
        self.0.search().trim_start_matches('?').to_owned()
    }

    /// A parameter of the query, decoded.
    pub fn parameter(&self, name: &str) -> Option<String> {
        self.0.search_params().get(name)
    }
}
