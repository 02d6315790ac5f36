/** The same request in several languages. `path` starts with a slash. */
export interface Sample {
  curl: string;
  javascript: string;
  python: string;
  kotlin: string;
  swift: string;
}

export function sampleOf(publicUrl: string, path: string): Sample {
  return {
    curl: `curl -H "Authorization: Bearer $TIS_KEY" \\\n  "${publicUrl}${path}"`,
    javascript: [
      '// In a browser write the key itself.',
      'const key = process.env.TIS_KEY;',
      `const response = await fetch('${publicUrl}${path}', {`,
      "  headers: { Authorization: 'Bearer ' + key },",
      '});',
      'const body = await response.json();',
      'if (!response.ok) throw new Error(body.error.message);',
      'console.log(body);',
    ].join('\n'),
    python: [
      'import json, os, urllib.request',
      '',
      `request = urllib.request.Request("${publicUrl}${path}")`,
      'request.add_header("Authorization", "Bearer " + os.environ["TIS_KEY"])',
      'print(json.load(urllib.request.urlopen(request)))',
    ].join('\n'),
    // Runs on Android and on every JVM.
    kotlin: [
      'import java.net.HttpURLConnection',
      'import java.net.URI',
      '',
      'fun main() {',
      `    val connection = URI("${publicUrl}${path}").toURL().openConnection() as HttpURLConnection`,
      '    connection.setRequestProperty("Authorization", "Bearer " + System.getenv("TIS_KEY"))',
      '    val isOk = connection.responseCode < 400',
      '    val stream = if (isOk) connection.inputStream else connection.errorStream',
      '    println(stream.bufferedReader().readText())',
      '}',
    ].join('\n'),
    swift: [
      'import Foundation',
      '',
      `var request = URLRequest(url: URL(string: "${publicUrl}${path}")!)`,
      'let key = ProcessInfo.processInfo.environment["TIS_KEY"]!',
      'request.setValue("Bearer " + key, forHTTPHeaderField: "Authorization")',
      'let (data, _) = try await URLSession.shared.data(for: request)',
      'print(String(decoding: data, as: UTF8.self))',
    ].join('\n'),
  };
}
