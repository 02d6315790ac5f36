import { createBoundedMap, ownText } from '../core/own-memory.ts';
import {
  foldSpace,
  type JsonObject,
  MAX_LENGTH,
  parseList,
  parseObject,
  parseRawText,
  toPlainText,
} from './response/field.ts';

export type Info = NonNullable<ReturnType<typeof parseInfo>>;

/** Maximum number of notices read per departure or leg; the longest recorded list has 6. */
const MAX_NOTICES = 50;
/** Maximum number of further texts of one notice; the recorded maximum is 1. */
const MAX_LINKS = 20;

/** Reads one more than is shown, to detect that some are omitted. */
export function parseInfos(value: unknown) {
  return parseList(value, parseInfo, MAX_NOTICES + 1);
}

function parseInfo(value: unknown) {
  const info = parseObject(value);
  return (
    info && {
      ...parseTexts(info, parseObject(info.properties)),
      priority: parseRawText(info.priority),
      infoLinks: parseList(info.infoLinks, parseInfoLink, MAX_LINKS + 1),
    }
  );
}

function parseInfoLink(value: unknown) {
  const link = parseObject(value);
  return link && parseTexts(link, link);
}

function parseTexts({ subtitle, urlText, content }: JsonObject, spoken: JsonObject | undefined) {
  return {
    subtitle: parseRawText(subtitle),
    urlText: parseRawText(urlText),
    content: parseRawText(content),
    speechText: parseRawText(spoken?.speechText),
  };
}

/**
 * Maximum characters of markup of all notices of a departure or leg: twelve times the longest recorded notice, doubled because
 * most texts are both in the notice and in its link.
 */
const MAX_MARKUP = 60_000;
/** Ends a truncated text. */
const CUT = '…';
/** Replaces omitted texts. */
const MORE = 'More notices are not shown here.';

/** A notice, or part of one, without markup. */
interface PlainText {
  /** As received, with markup. */
  subtitle: string;
  text: string;
  /** For comparing with other texts. */
  lowerCase: string;
}

/**
 * Cached by content: many departures and legs share the same notices, and reading one is slow. The list of all notices, read
 * every two minutes, has some three million characters.
 */
const plainTexts = createBoundedMap<PlainText>('texts of notices', {
  maxBytes: 6_000_000,
  sizeOf: ({ subtitle, text, lowerCase }, content) =>
    content.length + subtitle.length + text.length + lowerCase.length + 1,
});

/**
 * Disruption notices as plain text, in upstream's order without duplicates. Permanent notices (`veryLow`) are left out, except
 * those that riders need before they travel: that a ride must be booked, or that wheelchair users may not be able to board.
 */
export function mapAlerts(infos: readonly Info[]): string[] {
  let left = MAX_MARKUP;
  const shorten = (text: string) => {
    const short = text.slice(0, Math.min(left, MAX_LENGTH));
    left -= short.length;
    return short;
  };
  const shownInfos = infos.filter((info) => info.priority !== 'veryLow' || isNeededBefore(info));
  const notices = shownInfos.slice(0, MAX_NOTICES).map((info) => mapTexts(info, shorten));
  const areDropped = shownInfos.length > MAX_NOTICES || notices.some((notice) => notice.isDropped);
  return [...new Set([...notices.flatMap(({ texts }) => texts), ...(areDropped ? [MORE] : [])])];
}

function isNeededBefore(info: Info): boolean {
  return restrictsWheelchairs(info) || asksToPrepare(info) || info.infoLinks.some(asksToPrepare);
}

const BOOK = /\b(?:book(?:ed|ings?)?|reservations?|reserve (?:a|your))\b(?! (?:office|hall)s?\b)/i;
/** "Booking is not required", "No reservations", "You do not need to book". */
const NO_BOOKING =
  /(?:\bno|\bnot|n['’]t) (?:book|reserv|required|needed|necessary|need to (?:book|reserve)|have to (?:book|reserve))/i;
/** `ACT` and `BEFOREHAND` in one sentence: "Call 131 500 at least a day before you travel." */
const ACT = /\b(?:call|phone|contact|buy|purchase|register|apply|arrange)\b/i;
const BEFOREHAND = /\b(?:before|ahead|in advance|prior)\b/i;

/** In one sentence with `BOOK`: "Booking is required on this coach." */
const REQUIRED = /\b(?:required?|requires|must|essential|compulsory|necessary|needs? to)\b/i;

/** Whether one of these texts says that the ride must be booked. */
export function asksToBook(texts: readonly string[]): boolean {
  const sentences = texts.flatMap((text) => text.split(/[.!?\n]/));
  return sentences.some((text) => BOOK.test(text) && REQUIRED.test(text) && !NO_BOOKING.test(text));
}

/** Whether a notice asks riders to do something before travelling. */
function asksToPrepare(part: Info['infoLinks'][number]): boolean {
  const { heading, body } = textsOf(part);
  // Without markup, because a link's address may contain such a word.
  const { text } = parsePlainText(heading.slice(0, MAX_LENGTH), body.slice(0, MAX_LENGTH));
  return text
    .split(/[.!?]/)
    .some(
      (sentence) =>
        (BOOK.test(sentence) && !NO_BOOKING.test(sentence)) || (ACT.test(sentence) && BEFOREHAND.test(sentence)),
    );
}

/** In one sentence with `RESTRICTION`: "Some services on this line may not be wheelchair accessible." */
const WHEELCHAIRS = /\b(?:wheelchairs?|accessible)\b/i;
/** Includes requests for advance notice: "Notice of accessible access is required for the coach service". */
const RESTRICTION = /\b(?:not|no|without|unable|unavailable|(?<!short )notice|in advance)\b/i;

/** Whether a notice says that wheelchair users may not be able to board. */
export function restrictsWheelchairs(info: Info): boolean {
  return deniesWheelchairs(info) || info.infoLinks.some(deniesWheelchairs);
}

function deniesWheelchairs({ subtitle = '', content = '' }: Info['infoLinks'][number]): boolean {
  return deniesIn(subtitle) || deniesIn(content);
}

function deniesIn(text: string): boolean {
  if (!WHEELCHAIRS.test(text)) return false;
  return text.split('.').some((sentence) => WHEELCHAIRS.test(sentence) && RESTRICTION.test(sentence));
}

const CARRIAGES = /^(first|last|front|rear|middle) (\d{1,2})\b/i;

/** Hints for the ride as plain text, and which carriages to board if it matters. */
export function mapHints(hints: readonly string[], carriages: string | undefined): string[] {
  const texts = mapAlerts(hints.flatMap((content) => parseInfo({ content }) ?? []));
  const [, part, count] = CARRIAGES.exec(carriages ?? '') ?? [];
  return part ? [...texts, `Travel in the ${part.toLowerCase()} ${count} carriages.`] : texts;
}

/**
 * The texts of a notice. Some responses have the text at the top of the notice, some only in its links, most in both; several
 * links are several texts. Drops a text contained in another.
 */
function mapTexts(info: Info, shorten: (text: string) => string) {
  const parts = [mapText(info, shorten)];
  for (const link of info.infoLinks.slice(0, MAX_LINKS)) {
    const isRepeated = link.content && link.content === info.content && link.subtitle === info.subtitle;
    if (!isRepeated) parts.push(mapText(link, shorten));
  }
  const isContained = ({ plain: { lowerCase } }: (typeof parts)[number], index: number) =>
    parts.some(
      ({ plain: other }, at) =>
        at !== index &&
        (other.lowerCase.length > lowerCase.length || at < index) &&
        other.lowerCase.includes(lowerCase),
    );
  const shownParts = parts.filter((part, index) => part.plain.text !== '' && !isContained(part, index));
  const isDropped = info.infoLinks.length > MAX_LINKS || parts.some(({ plain, isCut }) => isCut && plain.text === '');
  return {
    texts: shownParts.map(({ plain: { text }, isCut }) => (isCut ? `${text}${CUT}` : text)),
    isDropped,
  };
}

function textsOf(part: Info['infoLinks'][number]) {
  return { heading: part.subtitle || part.urlText || '', body: part.content || part.speechText || '' };
}

function mapText(part: Info['infoLinks'][number], shorten: (text: string) => string) {
  const { heading, body } = textsOf(part);
  const subtitle = shorten(heading);
  const content = shorten(body);
  const isCut = subtitle.length < heading.length || content.length < body.length;
  return { plain: parsePlainText(subtitle, content), isCut };
}

function parsePlainText(subtitle: string, content: string): PlainText {
  const key = content || subtitle;
  const before = plainTexts.get(key);
  if (before?.subtitle === subtitle) return before;
  // Detach the text: a substring would keep the whole source alive, which may be megabytes.
  const text = ownText(joinTexts(foldSpace(toPlainText(subtitle)), withoutLostLinks(foldSpace(toPlainText(content)))));
  const plainText = { subtitle: ownText(subtitle), text, lowerCase: text.toLowerCase() };
  plainTexts.set(ownText(key), plainText);
  return plainText;
}

function joinTexts(subtitle: string, content: string): string {
  if (content === '') return subtitle;
  const heading = subtitle.replace(/[.:]$/, '');
  const isNeeded = LACKS_SUBJECT.test(content)
    ? !content.toLowerCase().startsWith(heading.toLowerCase())
    : saysSomethingOfItsOwn(heading, content);
  return isNeeded ? `${heading}: ${content}` : content;
}

/** Begins with days, a time or a list: "Monday 9 to Thursday 12 October • Daily from 9pm, buses replace trains." */
const LACKS_SUBJECT =
  /^(?:•|(?:(?:from|until|on|each|every|between|late|early) )?(?:\d{1,2}(?:[.:]\d\d)? ?[ap]m|\d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|week(?:days?|ends?|nights?)|nightly|daily|today|tonight|tomorrow)\b)/i;

/** Removes sentences that only introduce a link: "More information can be found here." lost it with the markup. */
function withoutLostLinks(text: string): string {
  if (!/\bhere\b/i.test(text)) return text;
  const sentences = text.split(/(?<=[.!?]) | (?=•)/);
  return sentences.filter((sentence) => !leadsToPage(sentence)).join(' ');
}

const BEGINS_WITH_LINK = /^(?:• )?(?:please )?(?:click|tap|see) here\b/i;
const ENDS_IN_LINK = /\bhere[.!]?$/i;
const READ_ON = /\b(?:info|information|details?|find out more|learn more|read more|click|tap)\b/i;

function leadsToPage(sentence: string): boolean {
  return BEGINS_WITH_LINK.test(sentence) || (ENDS_IN_LINK.test(sentence) && READ_ON.test(sentence));
}

/** False if the subtitle only repeats the content or lists lines ("Airport & South Line, Inner West Line"). */
function saysSomethingOfItsOwn(subtitle: string, content: string): boolean {
  if (subtitle === '' || content.toLowerCase().includes(subtitle.toLowerCase())) return false;
  return !subtitle.split(', ').every((part) => /\bLines?$/.test(part));
}
