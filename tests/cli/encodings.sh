#!/usr/bin/env bash
# Text that is not UTF-8: named by --encoding, or read as Latin-1 with a note.
. "$(dirname "$0")/common.sh"

# Latin-1 and Windows-1252: names, levels, labels, words for missing cells; packed, through a pipe, larger than a buffer.
awk 'BEGIN { srand(3); print "résultat,größe,café"; for (i = 0; i < 40000; i++) {
    b = rand() < .5; printf "%s,%.5f,%s\n", b ? "échec" : "réussi", rand(), i % 97 ? (i % 2 ? "thé" : "Ω€" ) : "donnée" } }' >utf8.csv
sed -i 's/Ω€/€/' utf8.csv
iconv -f UTF-8 -t WINDOWS-1252 utf8.csv >win.csv
sed 's/€/ß/' utf8.csv >sharp.csv
iconv -f UTF-8 -t LATIN1 sharp.csv >latin.csv
gzip -k latin.csv
latin=(--formula 'résultat ~ größe + café' --na 'donnée' --missing drop --success échec)
note='.échec. is 1.*413 of 40000 rows'
"$sbps" convert utf8.csv utf8.tbl "${latin[@]}" 2>.err || fault 'utf-8' "$(cat .err)"
"$sbps" convert sharp.csv sharp.tbl "${latin[@]}" 2>.err || fault 'utf-8' "$(cat .err)"
try 'latin1'               0 '' "$note" "$sbps" convert latin.csv l.tbl "${latin[@]}" --encoding latin1
cmp -s l.tbl sharp.tbl || fault 'latin1' 'the table is another than that of UTF-8'
try 'latin1, gzip, a pipe' 0 '' "$note" bash -c 'cat latin.csv.gz | "$@"' - "$sbps" convert - l.tbl "${latin[@]}" --encoding latin1
cmp -s l.tbl sharp.tbl || fault 'latin1, gzip, a pipe' 'the table is another than that of UTF-8'
try 'windows-1252'         0 '' "$note" "$sbps" convert win.csv w.tbl "${latin[@]}" --encoding windows-1252
cmp -s w.tbl utf8.tbl || fault 'windows-1252' 'the table is another than that of UTF-8'
{ printf '\xef\xbb\xbf'; cat sharp.csv; } >mark.csv
try 'a mark outweighs it'  0 '' "$note" "$sbps" convert mark.csv l.tbl "${latin[@]}" --encoding latin1
cmp -s l.tbl sharp.tbl || fault 'a mark outweighs it' 'the table is another than that of UTF-8'
try 'not given'            0 '' 'column names are not UTF-8 .*--encoding latin1.*café.*--encoding latin1' \
    "$sbps" convert latin.csv l.tbl --target résultat
try 'unknown encoding'     2 '' "--encoding: unknown choice 'koi8': expected utf-8" "$sbps" convert latin.csv l.tbl --target résultat --encoding koi8
finish
