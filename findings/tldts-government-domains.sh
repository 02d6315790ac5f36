#!/bin/sh
# Registered domains of Australian governments.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund tldts@7.6.0

cat > run.mjs <<'PROGRAM'
import { getDomain } from 'tldts';

for (const end of ['nsw.gov.au', 'act.gov.au', 'nt.gov.au', 'vic.gov.au', 'qld.gov.au', 'nsw.edu.au']) {
  console.log(`agency.${end}: ${getDomain(`agency.${end}`)}; ${end}: ${getDomain(end)}`);
}
PROGRAM
cat > expected <<'EXPECTED'
agency.nsw.gov.au: nsw.gov.au; nsw.gov.au: nsw.gov.au
agency.act.gov.au: act.gov.au; act.gov.au: act.gov.au
agency.nt.gov.au: nt.gov.au; nt.gov.au: nt.gov.au
agency.vic.gov.au: agency.vic.gov.au; vic.gov.au: null
agency.qld.gov.au: agency.qld.gov.au; qld.gov.au: null
agency.nsw.edu.au: agency.nsw.edu.au; nsw.edu.au: null
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: tldts 7.6.0 with the Public Suffix List it holds, source https://github.com/remusao/tldts
Behaviour: Below vic.gov.au and other states each agency has its own registered domain. In New South Wales, the ACT
  and the Northern Territory all agencies share one, as nsw.gov.au is no public suffix. For nsw.edu.au it is the other
  way.
Why a good guess is wrong: All states use the same scheme, and com.au, gov.au and nsw.edu.au are suffixes. The list
  has some of these ends and lacks others.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
