import { parameterOf, requiredText } from './parameter.ts';
import { field, text } from './schema.ts';

export { isNamed, isOnRoad, lineIdOf } from './line-names.ts';

export const lineIdField = text(
  'ID for `/v1/lines/{line_id}`; stays the same when the timetable is renewed',
  'train_T1',
);

export const nullableLineIdField = field(
  lineIdField.nullable(),
  'ID for `/v1/lines/{line_id}`; null if the line is not in the timetable',
);

const LINE_ID = /^[\w.-]{1,100}$/;
const allowed = 'must be a line ID such as train_T1 or 2507_333';

export const lineIdParameter = parameterOf(requiredText('a line ID such as train_T1'), (text, refuse) => {
  const id = text.trim();
  return LINE_ID.test(id) ? id : refuse(allowed, { hint: `Find IDs with /v1/lines?q=${encodeURIComponent(id)}.` });
}).meta({ type: 'string', pattern: LINE_ID.source });
