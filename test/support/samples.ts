import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ensureProgram } from './debian.ts';

/** A piece of code in a document, with its declared language. */
export interface Sample {
  place: string;
  language: string;
  code: string;
  /** The library that it needs: "leaflet"; absent if none. */
  setting?: string;
}

/** Every block of code in the README and in docs. */
export function listDocumentSamples(): Sample[] {
  return ['README.md', ...globSync('docs/**/*.md').sort()].flatMap((place) =>
    [...readFileSync(place, 'utf8').matchAll(/^```(\w*) ?(\w*)\n(.*?)^```$/gms)].map(
      ([, language = '', setting = '', code = '']) => ({ place, language, code, ...(setting && { setting }) }),
    ),
  );
}

/** Every piece of code on one of our pages that a program can run or read. */
export function listPageSamples(place: string, page: string): Sample[] {
  const blocks = [...page.matchAll(/<code(?: class="language-(\w+)")?>(.*?)<\/code>/gs)];
  return blocks.flatMap(([, marked, markup = '']) => {
    const code = decode(markup);
    const language = marked ?? LANGUAGES.find(([, sign]) => sign.test(code))?.[0];
    return language ? [{ place, language, code }] : [];
  });
}

const LANGUAGES: readonly (readonly [string, RegExp])[] = [
  ['sh', /^curl /],
  ['js', /\bawait fetch\(/],
  ['python', /^import /],
  ['json', /^\{.*\}$/s],
];

function decode(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&#(\d+);/g, (_match, code: string) => String.fromCharCode(Number(code)));
}

/** The commands of a shell sample, one by one; a backslash at the end of a line joins it with the next. */
export function listCommands(code: string): string[] {
  return code
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter(Boolean);
}

export interface Runner {
  /** Runs until the program ends, and returns its output; throws when it fails. */
  run(command: string, args: readonly string[], input?: string): Promise<string>;
  /** Runs until the output matches, then ends the program; throws when it ends first. */
  runUntil(pattern: RegExp, command: string, args: readonly string[]): Promise<string>;
}

/** Runs programs in `folder`, with the packages of this repository, and with a stand-in for curl where it cannot be installed. */
export function createRunner(folder: string, variables: Record<string, string>): Runner {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  try {
    ensureProgram('curl', 'curl');
  } catch {
    writeCurl(join(bin, 'curl'));
  }
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, ...variables };
  const start = (command: string, args: readonly string[]) => spawn(command, args, { cwd: folder, env });
  return {
    run: (command, args, input) => finish(start(command, args), null, input),
    runUntil: (pattern, command, args) => finish(start(command, args), pattern),
  };
}

/** A stand-in that understands the options in our samples. */
function writeCurl(file: string): void {
  writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "${resolve('test/support/curl.ts')}" "$@"\n`);
  chmodSync(file, 0o755);
}

function finish(child: ChildProcess, pattern: RegExp | null, input = ''): Promise<string> {
  let printed = '';
  let complaints = '';
  // A program that reads no input may end before all of it is written.
  child.stdin?.on('error', () => {}).end(input);
  return new Promise((done, fail) => {
    child.stdout?.on('data', (chunk) => {
      printed += chunk;
      if (pattern?.test(printed)) child.kill('SIGKILL');
    });
    child.stderr?.on('data', (chunk) => {
      complaints += chunk;
    });
    child.on('error', fail);
    child.on('close', (code) => {
      const isFine = pattern ? pattern.test(printed) : code === 0;
      if (isFine) done(printed);
      else fail(new Error(`exit code ${code}: ${complaints}${printed}`));
    });
  });
}
