#!/bin/sh
# Rows that end with CR LF and with LF in one text.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund papaparse@5.7.1

cat > run.mjs <<'PROGRAM'
import Papa from 'papaparse';

const rows = ['id,name', '200060,Central', '200070,Town Hall'];
const show = (name, text, options) => {
  const { data, errors } = Papa.parse(text, { skipEmptyLines: true, ...options });
  for (const row of data) console.log(`${name}:`, JSON.stringify(row));
  console.log(`${name}: ${errors[0]?.code ?? 'no error'}`);
};
const headerCrlf = `${rows[0]}\r\n${rows.slice(1).join('\n')}\n`;
show('CR LF, then LF', headerCrlf);
show('with keys', headerCrlf, { header: true });
show('LF, then CR LF', `${rows[0]}\n${rows.slice(1).join('\r\n')}\r\n`);
PROGRAM
cat > expected <<'EXPECTED'
CR LF, then LF: ["id","name"]
CR LF, then LF: ["200060","Central\n200070","Town Hall\n"]
CR LF, then LF: no error
with keys: {"id":"200060","name":"Central\n200070","__parsed_extra":["Town Hall\n"]}
with keys: TooManyFields
LF, then CR LF: ["id","name"]
LF, then CR LF: ["200060","Central\r"]
LF, then CR LF: ["200070","Town Hall\r"]
LF, then CR LF: no error
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: papaparse 5.7.1, source https://github.com/mholt/PapaParse
Behaviour: The first line decides how all lines end. If only the header ends with CR LF, all other rows are read as one,
  without an error unless keys are requested. The other way round, each last value ends with a CR.
Why a good guess is wrong: GTFS allows both ends, and files are put together from several sources, so one expects a
  reader that detects line ends to accept each of them wherever it is, as browsers and spreadsheets do.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
