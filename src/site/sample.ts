import { toParameters } from '../http/openapi/schema.ts';
import { pathParameters } from '../http/paths.ts';
import type { Operation } from '../operation.ts';

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

/** The request by the client that `npm run client` writes. */
export function clientSample(operation: Operation, publicUrl: string): string {
  const { id, path, example } = operation;
  const types = new Map(toParameters(operation).map(({ name, schema }) => [name, schema.type]));
  const inPath = pathParameters(path);
  const quote = (text: string) => `'${text}'`;
  const literal = ([name, value]: [string, string]) => {
    const type = types.get(name);
    if (type === 'array') return `${name}: [${value.split(',').map(quote).join(', ')}]`;
    return `${name}: ${type === 'string' ? quote(value) : value}`;
  };
  const given = [...new URLSearchParams(example.query)];
  const groups = [
    ['path', given.filter(([name]) => inPath.includes(name))],
    ['query', given.filter(([name]) => !inPath.includes(name))],
  ] as const;
  const written = groups.flatMap(([name, pairs]) =>
    pairs.length > 0 ? `${name}: { ${pairs.map(literal).join(', ')} }` : [],
  );
  return [
    `// npm run client -- client ${publicUrl}`,
    "import { client } from './client/client.gen.ts';",
    `import { ${id} } from './client/index.ts';`,
    '',
    `client.setConfig({ baseUrl: '${publicUrl}', auth: process.env.TIS_KEY ?? '' });`,
    `const { data, error } = await ${id}({ ${written.join(', ')} });`,
    'if (error) throw new Error(error.error.message);',
    'console.log(data);',
  ].join('\n');
}

/** The call of the operation as a tool. */
export function toolSample({ id, example }: Operation, publicUrl: string): string {
  const call = { name: id, arguments: Object.fromEntries(new URLSearchParams(example.query)) };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call };
  return [
    'curl -H "Authorization: Bearer $TIS_KEY" -H "Content-Type: application/json" \\',
    '  -H "Accept: application/json, text/event-stream" \\',
    `  -d '${JSON.stringify(message)}' \\`,
    `  "${publicUrl}/mcp"`,
  ].join('\n');
}
