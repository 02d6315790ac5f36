import { describe, expect, it } from 'vitest';
import { countCutNotices, mapAlerts, mapHints, readInfos } from '#src/efa/alerts.ts';

const alertsOf = (...infos: unknown[]) => mapAlerts(readInfos(infos));
const alertOf = (subtitle: string, content: string) => alertsOf({ priority: 'normal', subtitle, content });

describe('alerts are plain text', () => {
  it.each([
    ['<p>Use the <b>northern</b> gate.</p>', 'Use the northern gate.'],
    ['One.<br />Two.<br>Three.', 'One. Two. Three.'],
    ['<ul><li>Stand A</li><li>Stand C</li></ul>', '• Stand A • Stand C'],
    ['<ol><li>Get off.</li><li>Walk.</li></ol>', '1. Get off. 2. Walk.'],
    ['<h2>Sunday</h2>No trains.', 'Sunday No trains.'],
    ['See <a href="https://example.test">the plan</a>.', 'See the plan.'],
    ['<img src="x.png" alt="map">Walk.', 'Walk.'],
    ['<script>alert(1)</script>Walk.<style>b{}</style>', 'Walk.'],
    ['don&rsquo;t &amp; can&#39;t&nbsp;&nbsp;walk', "don’t & can't walk"],
    ['Park & Ride', 'Park & Ride'],
    ['A &amp;amp; B', 'A & B'],
    ['&lt;b&gt;Use&lt;/b&gt; the &lt;script&gt;x()&lt;/script&gt;gate', 'Use the gate'],
    ['&amp;lt;img src=x onerror=alert(1)&amp;gt;Walk.', 'Walk.'],
    ['&#38;#x26;amp;amp;lt;b&#38;#38;gt;Walk.', 'Walk.'],
    ['<\u200bb>Walk\u202e kcab\u{e0041}\u{e007f}.', 'Walk kcab.'],
    ['Walk\u0000&#8238;&#x200b;&zwnj; on\u001b[31m.', 'Walk on[31m.'],
    ['Trains &lt; 5 min late', 'Trains < 5 min late'],
    ['Gap < 10 cm, > 5 cm', 'Gap < 10 cm, > 5 cm'],
    ['First.\n\nSecond.  \n\tThird.\u00a0', 'First. Second. Third.'],
    ['<p>Not closed <b>at all', 'Not closed at all'],
  ])('%j reads %j', (content, text) => {
    expect(alertOf('', content)).toEqual([text]);
  });
});

describe('the subtitle leads where it says something of its own', () => {
  it.each([
    ['Slower trains', 'Heat on the line.', 'Slower trains: Heat on the line.'],
    ['Slower trains.\u00a0', 'Heat on the line.', 'Slower trains: Heat on the line.'],
    ['Slower trains:', 'Heat on the line.', 'Slower trains: Heat on the line.'],
    ['Northern Line, Airport & South Line', 'Heat.', 'Heat.'],
    ['T1 North Shore & Western Line', 'Heat.', 'Heat.'],
    ['Slower trains', 'Expect SLOWER TRAINS today.', 'Expect SLOWER TRAINS today.'],
    ['Slower trains.', 'Slower trains are expected.', 'Slower trains are expected.'],
    ['Slower trains', '', 'Slower trains'],
    ['Slower trains.', '<p>&nbsp;</p>', 'Slower trains.'],
    ['', 'Heat.', 'Heat.'],
  ])('%j with %j reads %j', (subtitle, content, text) => {
    expect(alertOf(subtitle, content)).toEqual([text]);
  });
});

describe('a list of alerts', () => {
  it('has each text once, in the order of upstream', () => {
    const one = { id: '1', subtitle: 'Lift 2 is closed', content: '' };
    const other = { id: '2', subtitle: 'Heat', content: '' };
    expect(alertsOf(one, other, { ...one, id: '3' })).toEqual(['Lift 2 is closed', 'Heat']);
  });

  it('leaves out permanent notices and keeps every other priority', () => {
    const priorities = ['veryLow', 'low', 'normal', 'high', 'veryHigh', undefined];
    const texts = alertsOf(...priorities.map((priority) => ({ priority, subtitle: `${priority}`, content: '' })));
    expect(texts).toEqual(['low', 'normal', 'high', 'veryHigh', 'undefined']);
  });

  it('leaves out what has no text, and what is no notice', () => {
    expect(alertsOf({}, { subtitle: '', content: '<p></p>' }, null, 'none')).toEqual([]);
    expect(alertsOf()).toEqual([]);
  });

  const MORE = 'More notices are not shown here.';

  it('is cut where the notices of one departure are longer than any real ones, says so, and is counted', () => {
    const notice = (letter: string) => ({ subtitle: '', content: letter.repeat(19_000) });
    const before = countCutNotices();
    expect(alertsOf(...[...'abc'].map(notice), { subtitle: 'Heat' })).toEqual([
      ...[...'abc'].map((letter) => letter.repeat(19_000)),
      'Heat',
    ]);
    expect(countCutNotices()).toBe(before);
    const parts = [...'abc'].map((letter) => letter.repeat(19_000));
    expect(alertsOf(...[...'abcd'].map(notice))).toEqual([...parts, `${'d'.repeat(3000)}…`]);
    expect(alertsOf(...[...'abcde'].map(notice))).toEqual([...parts, `${'d'.repeat(3000)}…`, MORE]);
    expect(countCutNotices()).toBe(before + 3);
  });

  it('is cut in one text that is out of all reason, markup or not, and in hints', () => {
    const text = 'Walk. '.repeat(4000);
    for (const [cut] of [
      alertsOf({ content: text }),
      alertsOf({ content: `<p>${text}` }),
      mapHints([text], undefined),
    ]) {
      expect(cut).toMatch(/^Walk\. [Walk. ]{19900,20000}…$/);
    }
  });

  it('has every notice of a long list, and says so where one is dropped', () => {
    const notices = Array.from({ length: 51 }, (_, number) => ({ subtitle: `Notice ${number}!` }));
    const texts = notices.map(({ subtitle }) => subtitle);
    expect(alertsOf(...notices.slice(1))).toEqual(texts.slice(1));
    expect(alertsOf(...notices)).toEqual([...texts.slice(0, 50), MORE]);
    const [first, ...others] = notices;
    expect(alertsOf({ ...first, infoLinks: others.slice(0, 21) })).toEqual([...texts.slice(0, 21), MORE]);
  });

  it('is whole where twelve notices have the length of the longest recorded one, at the top and in a link', () => {
    const notice = (letter: string) => {
      const text = { subtitle: `Trackwork ${letter}`, content: letter.repeat(2378) };
      return { ...text, infoLinks: [{ ...text, subtitle: `Trackwork ${letter}.` }] };
    };
    const lift = { subtitle: 'Lift out of order', content: 'Use the ramp.' };
    const letters = [...'abcdefghijkl'];
    expect(alertsOf(...letters.map(notice), lift)).toEqual([
      ...letters.map((letter) => `Trackwork ${letter}: ${letter.repeat(2378)}`),
      'Lift out of order: Use the ramp.',
    ]);
  });

  it('has a permanent notice only where that keeps wheelchairs away', () => {
    const permanent = (content: string) => ({ subtitle: '', content, priority: 'veryLow' });
    const restricted = 'Some services on this line may not be wheelchair accessible.';
    expect(alertsOf(permanent('Opal cards are accepted.'), permanent('All stops are accessible.'))).toEqual([]);
    expect(alertsOf(permanent(restricted))).toEqual([restricted]);
  });

  it('is read where the markup is nested as in no real notice', () => {
    expect(alertOf('Heat', '<b>'.repeat(2000))).toEqual(['Heat']);
    expect(alertOf('', `Walk.${'<ul><li>'.repeat(700)}`)).toEqual([expect.stringMatching(/^Walk\./)]);
  });

  it('takes the spoken text and the link text where the written ones are missing or empty', () => {
    const properties = { speechText: 'Heat on the line.' };
    expect(alertsOf({ urlText: 'Slower trains', properties })).toEqual(['Slower trains: Heat on the line.']);
    expect(alertsOf({ subtitle: '', urlText: 'Slower trains', content: '', properties })).toEqual([
      'Slower trains: Heat on the line.',
    ]);
  });
});

describe('a notice whose text is in its links', () => {
  const link = {
    subtitle: 'Buses replace trains',
    content: '<p>Between Sydenham and Central.</p>',
    speechText: 'Buses.',
  };
  const text = 'Buses replace trains: Between Sydenham and Central.';

  it('reads like one with the text at the top', () => {
    expect(alertsOf({ infoLinks: [link] })).toEqual([text]);
    expect(alertsOf({ infoLinks: link })).toEqual([text]);
  });

  it('takes the spoken text of a link without content', () => {
    expect(alertsOf({ infoLinks: [{ ...link, content: '' }] })).toEqual(['Buses replace trains: Buses.']);
  });

  it('has a text for each of several links', () => {
    const other = { urlText: 'Lift 2 is closed' };
    expect(alertsOf({ infoLinks: [link, other] })).toEqual([text, 'Lift 2 is closed']);
  });

  it('is read once where the top and the links say the same', () => {
    expect(alertsOf({ ...link, infoLinks: [link] })).toEqual([text]);
    expect(alertsOf({ ...link, infoLinks: [{ ...link, content: 'Between Sydenham and Central.' }] })).toEqual([text]);
    expect(alertsOf({ subtitle: 'Running late', infoLinks: [{ subtitle: 'RUNNING LATE' }] })).toEqual(['Running late']);
  });

  it('drops a text that another text of the notice contains', () => {
    expect(alertsOf({ ...link, infoLinks: [{ urlText: 'Buses replace trains' }] })).toEqual([text]);
    expect(alertsOf({ content: 'Between Sydenham and Central.', infoLinks: [link] })).toEqual([text]);
  });

  it('adds what a link says beyond the top', () => {
    expect(alertsOf({ ...link, infoLinks: [{ urlText: 'Lift 2 is closed' }] })).toEqual([text, 'Lift 2 is closed']);
  });

  it('is left out when it is permanent', () => {
    expect(alertsOf({ priority: 'veryLow', infoLinks: [link] })).toEqual([]);
  });
});
