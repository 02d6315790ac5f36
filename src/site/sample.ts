/** The same request in several languages. `path` starts with a slash. */
export interface Sample {
  curl: string;
  javascript: string;
  python: string;
}

export function sampleOf(publicUrl: string, path: string): Sample {
  return {
    curl: `curl -H "Authorization: Bearer $TIS_KEY" \\\n  "${publicUrl}${path}"`,
    javascript: [
      '// In a browser write the key itself.',
      'const key = process.env.TIS_KEY;',
      `const answer = await fetch('${publicUrl}${path}', {`,
      "  headers: { Authorization: 'Bearer ' + key },",
      '});',
      'const body = await answer.json();',
      'if (!answer.ok) throw new Error(body.error.message);',
      'console.log(body);',
    ].join('\n'),
    python: [
      'import json, os, urllib.request',
      '',
      `request = urllib.request.Request("${publicUrl}${path}")`,
      'request.add_header("Authorization", "Bearer " + os.environ["TIS_KEY"])',
      'print(json.load(urllib.request.urlopen(request)))',
    ].join('\n'),
  };
}
