import Glibc

/// Keywords and values with which a server is reached (PostgreSQL 15, 34.1.2), in the order in which they count.
struct ConnectionParameters {
    let words: [(keyword: String, value: String)]
    /// What counts whatever the address and the environment say: texts are sent, and read, as Swift has them. With the
    /// encoding of PGCLIENTENCODING, or of a role's setting, the server would take them for others.
    private static let always = [(keyword: "client_encoding", value: "UTF8")]

    /// Lends them as libpq takes them: two arrays that end with a null pointer.
    func lend<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let words = self.words + Self.always
        let keywords = words.map { strdup($0.keyword) } + [nil]
        let values = words.map { strdup($0.value) } + [nil]
        defer { for text in keywords + values { free(text) } }
        return body(keywords.map { UnsafePointer($0) }, values.map { UnsafePointer($0) })
    }
}
