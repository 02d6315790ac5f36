/** Synonyms: each key is replaced with its value, in stop names and queries alike. */
const SYNONYMS: Readonly<Record<string, string>> = {
  stn: 'station',
  sta: 'station',
  street: 'st',
  saint: 'st',
  road: 'rd',
  avenue: 'ave',
  av: 'ave',
  parade: 'pde',
  highway: 'hwy',
  drive: 'dr',
  crescent: 'cr',
  cres: 'cr',
  lane: 'ln',
  terrace: 'tce',
  mt: 'mount',
  pt: 'point',
  nth: 'north',
  sth: 'south',
  jn: 'junction',
  jct: 'junction',
  jnc: 'junction',
  junc: 'junction',
  uni: 'university',
  hosp: 'hospital',
  opposite: 'opp',
  intl: 'international',
  int: 'interchange',
  pl: 'place',
  sq: 'square',
  gdns: 'gardens',
  pk: 'park',
  mac: 'macquarie',
  macq: 'macquarie',
  ck: 'creek',
};
/** Synonyms of several words. */
const PHRASE_SYNONYMS: readonly (readonly [RegExp, string])[] = [
  [/\bqueen victoria (building|bldg|bld)\b/g, 'qvb'],
  [/\blight ?rail\b/g, 'lightrail'],
  [/\blr\b/g, 'lightrail'],
];
/** Words that do not distinguish stops. */
const IGNORED_WORDS: readonly string[] = ['the', 'of', 'and'];

/** Returns the words of a name or query in their normalised form. */
export function wordsOf(text: string): string[] {
  // NFKD separates accents from letters.
  const plainText = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}'’]/gu, '');
  const shortened = PHRASE_SYNONYMS.reduce((before, [phrase, word]) => before.replace(phrase, word), plainText);
  const words = shortened.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '' && !IGNORED_WORDS.includes(word));
  return words.map((word) => (Object.hasOwn(SYNONYMS, word) ? (SYNONYMS[word] as string) : word));
}
