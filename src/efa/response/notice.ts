import { readList, readObject, readText } from './field.ts';

/** A disruption notice. */
export type Info = NonNullable<ReturnType<typeof readInfo>>;

/** Undefined for what is no object. */
export function readInfo(value: unknown) {
  const info = readObject(value);
  return (
    info && {
      subtitle: readText(info.subtitle),
      urlText: readText(info.urlText),
      content: readText(info.content),
      speechText: readText(readObject(info.properties)?.speechText),
      priority: readText(info.priority),
      infoLinks: readList(info.infoLinks, readInfoLink),
    }
  );
}

function readInfoLink(value: unknown) {
  const link = readObject(value);
  return (
    link && {
      subtitle: readText(link.subtitle),
      urlText: readText(link.urlText),
      content: readText(link.content),
      speechText: readText(link.speechText),
    }
  );
}
