#!/usr/bin/env bash
# Judges the programs of a CI job and writes its reports; exits as `spatialcert gate` (or `certify`) does.
#
#   SPATIALCERT_BINARY                the command (default: spatialcert)
#   SPATIALCERT_CANDIDATE             folder of the programs that were emitted; required
#   SPATIALCERT_BASELINE              folder of those before the change. Empty: there is none, and `certify` judges the
#                                     candidate alone, so that lost programs go unnoticed
#   SPATIALCERT_POLICY                policy file; empty: none. Only with a baseline
#   SPATIALCERT_CERTIFICATES          folder of certificates of the candidate; empty: beside the programs
#   SPATIALCERT_BASELINE_CERTIFICATES likewise of the baseline
#   SPATIALCERT_REPORTS               folder of the reports (default: spatialcert-reports): summary.md, results.sarif,
#                                     junit.xml, and with a baseline the certificates of the candidate in certificates/
#   SPATIALCERT_JOBS                  threads; empty: all cores
#
# On GitHub the summary is added to that of the step, and `status`, `verdict`, `summary`, `sarif` and `junit` are outputs.
set -euo pipefail

binary=${SPATIALCERT_BINARY:-spatialcert}
candidate=${SPATIALCERT_CANDIDATE:-}
baseline=${SPATIALCERT_BASELINE:-}
reports=${SPATIALCERT_REPORTS:-spatialcert-reports}
[ -n "$candidate" ] || { echo "spatialcert: SPATIALCERT_CANDIDATE must name the folder of the programs" >&2; exit 64; }

mkdir -p "$reports"
# Reports of an earlier run would speak for this one if it ends before it writes any.
rm -rf -- "$reports/summary.md" "$reports/results.sarif" "$reports/junit.xml" "$reports/certificates"

# `certify` has no summary of its own: one line per program, as long as a comment on a pull request may be.
certify() {
  local programs status=0
  # Of what cannot be searched, programs may be missing. Links that lead nowhere are refused by the command.
  find -L "$candidate" \( -type f -o -type l \) \( -name '*.json' -o -name '*.json.zst' \) -print0 >"$reports/lines" || {
    echo "spatialcert: $candidate could not be searched for programs" >&2
    return 3
  }
  mapfile -d '' programs < <(sort -z "$reports/lines")
  if [ ${#programs[@]} -eq 0 ]; then
    echo "spatialcert: no programs (*.json, *.json.zst) below $candidate" >&2
    return 64
  fi
  "$binary" certify --quiet "$@" -- "${programs[@]}" >"$reports/lines" || status=$?
  cat "$reports/lines"
  {
    echo "## spatialcert certify: exit status $status"
    echo
    echo '````text'
    tr '`' "'" <"$reports/lines" | head -c 60000
    echo
    echo '````'
  } >"$reports/summary.md"
  rm -f -- "$reports/lines"
  return "$status"
}

arguments=(--sarif "$reports/results.sarif" --junit "$reports/junit.xml")
[ -z "${SPATIALCERT_JOBS:-}" ] || arguments+=(-j "$SPATIALCERT_JOBS")
status=0
if [ -z "$baseline" ]; then
  if [ -n "${SPATIALCERT_POLICY:-}" ]; then
    echo "spatialcert: a policy needs a baseline: set SPATIALCERT_BASELINE" >&2
    status=64
  else
    certify "${arguments[@]}" || status=$?
  fi
else
  arguments+=(--markdown "$reports/summary.md" --write-certificates "$reports/certificates")
  [ -z "${SPATIALCERT_POLICY:-}" ] || arguments+=(--policy "$SPATIALCERT_POLICY")
  [ -z "${SPATIALCERT_CERTIFICATES:-}" ] || arguments+=(--certificates "$SPATIALCERT_CERTIFICATES")
  [ -z "${SPATIALCERT_BASELINE_CERTIFICATES:-}" ] ||
    arguments+=(--baseline-certificates "$SPATIALCERT_BASELINE_CERTIFICATES")
  "$binary" gate --baseline "$baseline" --candidate "$candidate" "${arguments[@]}" || status=$?
fi

case "$status" in
  0) verdict=passed ;;
  1) verdict=refuted ;;
  2) verdict=undecided ;;
  3) verdict=refused ;;
  64) verdict=usage ;;
  *) verdict=fault ;;
esac
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$reports/summary.md" ]; then
  cat "$reports/summary.md" >>"$GITHUB_STEP_SUMMARY"
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  {
    echo "status=$status"
    echo "verdict=$verdict"
    echo "summary=$reports/summary.md"
    echo "sarif=$reports/results.sarif"
    echo "junit=$reports/junit.xml"
  } >>"$GITHUB_OUTPUT"
fi
exit "$status"
