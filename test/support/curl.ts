/*
 * The part of curl that our samples use, for machines without it: headers (-H), a body (-d, also with -X POST), a stream (-N)
 * and a URL. Any other option is an error, so that no sample passes because of a missing feature.
 */
const headers: [string, string][] = [];
let url = '';
let body: string | undefined;

const words = process.argv.slice(2);
while (words.length > 0) {
  const word = words.shift() ?? '';
  if (word === '-H') {
    const [name = '', value = ''] = (words.shift() ?? '').split(/: (.*)/s, 2);
    headers.push([name, value]);
  } else if (word === '-d') body = words.shift();
  else if (word === '-X' && words[0] === 'POST') words.shift();
  else if (word.startsWith('-') && word !== '-N') throw new Error(`curl.ts does not know ${word}`);
  else url = word;
}
const response = await fetch(url, { headers, ...(body !== undefined && { method: 'POST', body }) });
for await (const chunk of response.body ?? []) process.stdout.write(chunk);
