import DTLS
import Testing

/// Handshake messages cut up the way odd clients and small paths do it.
@Suite struct DTLSFragmentTests {
    /// Cuts every plain handshake message of a datagram into overlapping fragments of `size` bytes, last first, one record and
    /// one datagram each. Other records pass as they are, after them.
    private static func cut(_ datagram: [UInt8], size: Int, overlap: Int, nextRecord: inout Int) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var others: [[UInt8]] = []
        for record in records(datagram) {
            let isPlainHandshake = record[0] == 22 && record[3] == 0 && record[4] == 0
            guard isPlainHandshake, record.count >= 25 else {
                others.append(record)
                // A plain record that is no handshake message (ChangeCipherSpec) must not fall behind the replay window.
                if record[4] == 0 {
                    others[others.count - 1].replaceSubrange(9..<11, with: [0xFF, UInt8(nextRecord & 0xFF)])
                }
                continue
            }
            let header = Array(record[13..<25])
            let body = Array(record[25...])
            var start = 0
            var fragments: [[UInt8]] = []
            repeat {
                let from = max(0, start - overlap)
                let fragment = Array(body[from..<min(start + size, body.count)])
                var message = Array(header[..<6])
                for length in [from, fragment.count] { message += [0, UInt8(length >> 8), UInt8(length & 0xFF)] }
                message += fragment
                var piece = Array(record[..<5])
                piece += [0, 0, 0, 0, UInt8(nextRecord >> 8), UInt8(nextRecord & 0xFF)]
                piece += [UInt8(message.count >> 8), UInt8(message.count & 0xFF)]
                piece += message
                nextRecord += 1
                fragments.append(piece)
                start += size
            } while start < body.count
            pieces += fragments.reversed()
        }
        return pieces + others
    }

    @Test("H45 fragments in reverse order, overlapping and repeated, are put together", arguments: [200, 60, 17])
    func fragments(size: Int) throws {
        let pair = try DTLSPair()
        // Above what OpenSSL numbers its own records with, so that no number comes twice.
        var nextRecord = 100
        pair.wire = { _, fromActive, datagram in
            guard fromActive else { return [datagram] }
            let pieces = Self.cut(datagram, size: size, overlap: 5, nextRecord: &nextRecord)
            return pieces.flatMap { [$0, $0] }
        }
        pair.start()
        #expect(pair.keys != nil)
    }
}
