// Flutter has no EventSource: package:http streams the response, and the events are read from its lines.
import 'dart:convert';

import 'package:http/http.dart' as http;

/// Each board as it changes. Reconnects after breaks; ends after a last event or an error that a retry cannot help.
/// `fetchToken` gets a token from your own backend.
Stream<Map<String, dynamic>> followBoard(Future<String> Function() fetchToken) async* {
  final address = Uri.parse('http://localhost:3000/v1/departures/stream?stop=200070&modes=all');
  String? lastId;
  for (;;) {
    final client = http.Client();
    var wait = const Duration(seconds: 5);
    try {
      final token = await fetchToken();
      final request = http.Request('GET', address)..headers['Authorization'] = 'Bearer $token';
      if (lastId != null) request.headers['Last-Event-ID'] = lastId;
      final response = await client.send(request);
      final status = response.statusCode;
      if (status >= 400 && status < 500 && status != 401 && status != 429) return;
      if (status != 200) throw http.ClientException('status $status', address);
      var event = '';
      // A comment comes every 15 seconds: 40 seconds of silence are a broken connection.
      final lines = response.stream.transform(utf8.decoder).transform(const LineSplitter());
      await for (final line in lines.timeout(const Duration(seconds: 40))) {
        if (line.startsWith('event: ')) event = line.substring(7);
        if (line.startsWith('id: ')) lastId = line.substring(4);
        if (!line.startsWith('data: ')) continue;
        if (event == 'end') return;
        if (event == 'board') yield jsonDecode(line.substring(6)) as Map<String, dynamic>;
      }
    } on Exception {
      // No network, or the service is busy: try again.
      wait = const Duration(seconds: 30);
    } finally {
      client.close();
    }
    await Future<void>.delayed(wait);
  }
}
