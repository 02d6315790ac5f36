import Foundation

struct Board: Codable {
    let stopName: String
    let retrievedAt: Date
    let departures: [Departure]
}

struct Departure: Codable {
    let route: String
    let mode: String
    let destination: String
    let platform: String?
    let scheduledAt: Date
    let realtimeAt: Date?
    let isLive: Bool

    /// Count down to this on the device; `minutes_away` is right only when the response is sent.
    var leavesAt: Date { realtimeAt ?? scheduledAt }
}

struct Refusal: Codable, Error {
    struct Detail: Codable {
        let code: String
        let message: String
        let docs: String
    }
    let error: Detail
}

func decode<Body: Decodable>(_ type: Body.Type, from data: Data) throws -> Body {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dateDecodingStrategy = .iso8601
    return try decoder.decode(type, from: data)
}

/// Follows a board until its task is cancelled. `getToken` returns a token from your own backend, a new one if asked to renew.
func followBoard(getToken: (_ renew: Bool) async throws -> String, onBoard: (Board) async -> Void) async throws {
    let url = URL(string: "http://localhost:3000/v1/departures/stream?stop=200070&modes=all")!
    var renew = false
    var lastId: String?
    while true {
        var seconds = 5.0
        do {
            let token = try await getToken(renew)
            // A comment arrives every 15 seconds, so a longer silence means that the connection is lost.
            var request = URLRequest(url: url, timeoutInterval: 40)
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
            request.setValue(lastId, forHTTPHeaderField: "Last-Event-ID")
            let (bytes, response) = try await URLSession.shared.bytes(for: request)
            let http = response as! HTTPURLResponse
            renew = http.statusCode == 401
            if http.statusCode == 200 {
                var event = ""
                var id: String?
                // `lines` skips the empty line after each event; `data` is an event's last line.
                for try await line in bytes.lines {
                    if line.hasPrefix("event: ") { event = String(line.dropFirst(7)) }
                    if line.hasPrefix("id: ") { id = String(line.dropFirst(4)) }
                    guard line.hasPrefix("data: ") else { continue }
                    if event == "end" { renew = true }
                    if event == "board" {
                        lastId = id
                        await onBoard(try decode(Board.self, from: Data(line.dropFirst(6).utf8)))
                    }
                }
            } else if renew {
                seconds = 1
            } else if http.statusCode == 429 || http.statusCode >= 500 {
                seconds = Double(http.value(forHTTPHeaderField: "Retry-After") ?? "") ?? 60
            } else {
                var body = Data()
                for try await byte in bytes { body.append(byte) }
                throw try decode(Refusal.self, from: body)
            }
        } catch is URLError {
            // No network: the last board stays on the screen, with its age.
        }
        try await Task.sleep(nanoseconds: UInt64(seconds * 1e9))
    }
}
