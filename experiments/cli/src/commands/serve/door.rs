//! The door of `orrery serve`: connections, one request on each, and limits in front of everything.
//!
//! ```text
//!  accept ── too many? ──> 503
//!     └─ read the head: so many bytes, headers, seconds ──> 400, 408, 413, 431
//!            └─ a request ──> http.rs ──> one reply, or a stream; then the connection is closed
//! ```
//!
//! Nothing is reserved because a header says so, and no body is read: the page only asks with `GET`.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Connections at once. A browser opens at most six to one host.
const CONNECTIONS_MAX: usize = 64;
/// A request line and its headers. The address has the whole question: a page's longest has a few kB.
const HEAD_BYTES_MAX: usize = 32 << 10;
/// Browsers send some fifteen.
const HEADERS_MAX: usize = 64;
/// From the connection to the last byte of the head, however it trickles in.
const HEAD_TIME_MAX: Duration = Duration::from_secs(5);
/// For the reader of a reply to take a piece of it.
const WRITE_TIME_MAX: Duration = Duration::from_secs(30);
/// After a reply, what is still coming is read away for so long, so that the reply is not lost with it.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(1);
const DRAIN_BYTES_MAX: usize = 1 << 20;

/// A request. It has no body.
pub struct Request {
    /// `GET`, ...
    pub method: String,
    /// Path and query, as they were sent.
    pub target: String,
    /// The header `Host`; empty without one.
    pub host: String,
    connection: Connection,
}

/// A connection that a reply is written to; it is closed when this is dropped.
pub struct Connection {
    stream: TcpStream,
    /// One of [`CONNECTIONS_MAX`].
    _place: Arc<()>,
}

/// A request that is refused for its form: a status and a reason.
type Refused = (u16, &'static str);

/// Serves every connection on a thread of its own, for as long as the program runs.
pub fn serve(listener: &TcpListener, reply: impl Fn(Request) + Clone + Send + 'static) -> ! {
    let places = Arc::new(());
    loop {
        let Ok((stream, _)) = listener.accept() else {
            // Out of file descriptors, or the other side went away.
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        let mut connection = Connection { stream, _place: places.clone() };
        // The listener has one itself.
        if Arc::strong_count(&places) > CONNECTIONS_MAX + 1 {
            let text = "too many connections at once: close some of the pages";
            // It waits for nobody: the whole reply fits into the socket's own buffer.
            let _ = connection.refuse((503, text));
            continue;
        }
        let reply = reply.clone();
        // Without a thread to be had, the connection is closed.
        let _ = std::thread::Builder::new().spawn(move || match connection.head() {
            Ok(Ok((method, target, host))) => reply(Request { method, target, host, connection }),
            Ok(Err(refused)) => {
                let _ = connection.refuse(refused);
                connection.drain();
            }
            Err(_) => {}
        });
    }
}

impl Request {
    /// Answers with a whole text.
    ///
    /// # Errors
    /// When the reader went away.
    pub fn respond(self, status: u16, headers: &[(&str, &str)], body: &str) -> io::Result<()> {
        let mut connection = self.connection;
        connection.respond(status, headers, body)?;
        connection.drain();
        Ok(())
    }

    /// Answers with a stream, whose end is the end of the connection.
    ///
    /// # Errors
    /// When the reader went away.
    pub fn stream(self, headers: &[(&str, &str)]) -> io::Result<Connection> {
        let mut connection = self.connection;
        connection.write_all((head(200, headers) + "\r\n").as_bytes())?;
        Ok(connection)
    }
}

impl Connection {
    /// Reads a request line and headers: method, target and host.
    fn head(&mut self) -> io::Result<Result<(String, String, String), Refused>> {
        self.stream.set_write_timeout(Some(WRITE_TIME_MAX))?;
        // An event is shown when it happens.
        self.stream.set_nodelay(true)?;
        let (begun, mut bytes) = (Instant::now(), Vec::new());
        loop {
            let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
            let mut request = httparse::Request::new(&mut headers);
            match request.parse(&bytes) {
                Ok(httparse::Status::Complete(_)) => return Ok(checked(&request)),
                Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES_MAX => {}
                Ok(httparse::Status::Partial) => return Ok(Err((431, "the head is too long"))),
                Err(httparse::Error::TooManyHeaders) => {
                    return Ok(Err((431, "there are too many headers")));
                }
                Err(_) => return Ok(Err((400, "this is no request of HTTP/1"))),
            }
            let left = HEAD_TIME_MAX.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Ok(Err((408, "the request did not come in time")));
            }
            self.stream.set_read_timeout(Some(left))?;
            let mut piece = [0; 4096];
            let room = piece.len().min(HEAD_BYTES_MAX - bytes.len());
            match self.stream.read(&mut piece[..room]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => bytes.extend_from_slice(&piece[..read]),
                Err(e) if is_late(&e) || e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn refuse(&mut self, (status, text): Refused) -> io::Result<()> {
        self.respond(status, &[("Content-Type", "text/plain; charset=utf-8")], &format!("{text}\n"))
    }

    fn respond(&mut self, status: u16, headers: &[(&str, &str)], body: &str) -> io::Result<()> {
        let head = head(status, headers);
        let reply = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        self.stream.write_all(reply.as_bytes())
    }

    /// Ends the reply, and reads away what the other side is still sending.
    fn drain(&mut self) {
        let (begun, mut rest) = (Instant::now(), DRAIN_BYTES_MAX);
        let _ = self.stream.shutdown(Shutdown::Write);
        let mut piece = [0; 4096];
        while rest > 0 {
            let left = DRAIN_TIME_MAX.saturating_sub(begun.elapsed());
            if left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
                return;
            }
            match self.stream.read(&mut piece) {
                Ok(read) if read > 0 => rest = rest.saturating_sub(read),
                _ => return,
            }
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// What a request asks, unless it is not to be trusted with its own length or host.
fn checked(request: &httparse::Request<'_, '_>) -> Result<(String, String, String), Refused> {
    let all = |name: &str| {
        let named = request.headers.iter().filter(move |h| h.name.eq_ignore_ascii_case(name));
        named.map(|h| h.value).collect::<Vec<_>>()
    };
    let has_body = all("Content-Length").iter().any(|length| *length != b"0");
    if has_body || !all("Transfer-Encoding").is_empty() {
        return Err((413, "a request has no body here"));
    }
    let host = match all("Host")[..] {
        [] => String::new(),
        [host] => String::from_utf8_lossy(host).into_owned(),
        _ => return Err((400, "a request has one `Host`")),
    };
    let text = |part: Option<&str>| part.unwrap_or_default().to_string();
    Ok((text(request.method), text(request.path), host))
}

/// The lines of a reply before its body, without the empty one.
fn head(status: u16, headers: &[(&str, &str)]) -> String {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        _ => "Service Unavailable",
    };
    let mut lines = format!("HTTP/1.1 {status} {reason}\r\n");
    for (name, value) in headers.iter().chain(&[("Connection", "close")]) {
        lines.push_str(&format!("{name}: {value}\r\n"));
    }
    lines
}

/// Whether a read has waited for as long as it may.
fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
