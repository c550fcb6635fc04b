// All faults that `tilecouch check` can find. Programs branch on the code; the level says whether it fails the check.
// fault: something is lost, wrong or cannot be read. warning: readers still work, but an operator should know. fix:
// what `--fix` does; a fault without it needs a person's decision. docs/checking.md lists them.

/** @typedef {'fault' | 'warning'} Level */

/** @typedef {{advice?: string, fix?: string}} Remedy */

/** @param {string} means @param {Remedy} [remedy] @returns {Remedy & {level: Level, means: string}} */
const fault = (means, remedy) => ({ level: 'fault', means, ...remedy })

/** @type {typeof fault} */
const warning = (means, remedy) => ({ level: 'warning', means, ...remedy })

// A damaged document must be deleted first: a load skips bytes that the store has, and does not write a tile with a
// document that it cannot read.
export const LOAD_AGAIN = 'Delete the document (in Fauxton, or with `curl -X DELETE`), then load its edition again.'

/** By code. @type {Record<string, ReturnType<typeof fault>>} */
export const faults = {
  // tiles in files and stores
  'empty-tile': fault('a tile has no bytes', { advice: 'Fetch or render it again.' }),
  'unknown-format': fault('the bytes are no PNG, JPEG, WebP, AVIF or vector tile', {
    advice: 'Often an error page was stored as a tile: fetch it again.'
  }),
  'truncated-tile': fault('the image or vector tile is cut off, or its frame is broken', {
    advice: 'Fetch or render it again.'
  }),
  'undecodable-tile': fault('the pixels or features cannot be decoded, although the image or tile is complete', {
    advice: 'Fetch or render it again.'
  }),
  'oversized-tile': fault('far more bytes or pixels than a tile has; it was not decoded'),
  'unreadable-tile': fault('the tile is listed, but its bytes cannot be read', {
    advice: 'Its file on the disk is damaged: take the store from a mirror or a backup.'
  }),
  'wrong-type': fault('the bytes are of another type than the content type, format or extension says', {
    advice: `In a file: correct the format or the name. In a store: ${LOAD_AGAIN}`
  }),
  'wrong-length': fault('there are more or fewer bytes than the container says'),
  'wrong-digest': fault('the bytes do not have the check sum that is stored with them', {
    advice: `A disk or a copy damaged them. ${LOAD_AGAIN}`
  }),
  'duplicate-tile': fault('one tile is there more than once', {
    advice: 'Readers show any of them: remove the others.'
  }),
  'outside-pyramid': fault('a column, row or zoom that no tile can have'),
  'outside-zooms': warning('the tile lies outside of the zooms that the layer or file says it has', {
    advice: 'Widen minzoom and maxzoom, or clients never ask for it.',
    fix: 'minzoom and maxzoom are widened to the tiles'
  }),
  'outside-bounds': warning('the tile lies outside of the bounds that the layer or file says it has', {
    advice: 'Widen the bounds, or clients never ask for it.',
    fix: 'the bounds are widened to the tiles'
  }),
  'mixed-formats': warning('an image of another format than the file says its tiles have'),
  'odd-size': warning('the image has neither the tile size nor twice that'),
  'odd-vector-tile': warning('a vector tile that decodes, but breaks a rule of the specification'),

  // documents of a store
  'bad-id': fault('the id of a document begins like that of a tile, but is not one', {
    advice: 'No program reads it. Delete it, or store its content under the right id.'
  }),
  'not-a-tile': fault('a document that has the id of a tile, but is not a tile', { advice: LOAD_AGAIN }),
  'fields-disagree': fault('layer, z, x or y of a document are not those of its id', { advice: LOAD_AGAIN }),
  'bad-time': fault('a time that is not like 2024-03-01T00:00:00Z', { advice: LOAD_AGAIN }),
  'bad-run': fault('a run, or the runs in `seen`, that is not like 20240301T101500123-4f9k', {
    advice: 'Correct the field in the database: no removal can withdraw that version.'
  }),
  'time-disagrees': fault('the time of a past version is not that of its id', { advice: LOAD_AGAIN }),
  'wrong-current': fault('a head that does not say it is current, or a past version that does', { advice: LOAD_AGAIN }),
  'gone-with-bytes': fault('a version that says "no tile here any more" and has one', {
    advice: 'Look at the image: remove that version, or load it again with a later time.'
  }),
  'no-bytes': fault('a version without the attachment `tile` that does not say it is gone', { advice: LOAD_AGAIN }),
  'stray-attachment': fault('an attachment that is not called `tile`', { advice: LOAD_AGAIN }),
  conflict: fault('a document has conflicting revisions', {
    advice: '`tilecouch check --fix`; `--only conflicts` looks for nothing else.',
    fix: 'the newest stays, the others become its past; documents of layers, editions and the store are merged'
  }),
  'no-head': fault('a tile with past versions and no head: the current map lacks it', {
    advice: '`tilecouch check --fix` makes the newest past version the head.',
    fix: 'the newest past version becomes the head, and is then deleted from the past'
  }),
  'head-too-old': fault('the head is older than a past version of its tile', {
    fix: 'the newest past version becomes the head, the former head a past version'
  }),
  'two-at-one-time': fault('two versions of a tile at one time with different bytes', {
    fix: 'the head keeps the time, the other moves to the second before'
  }),
  'not-in-index': fault('the view versions/by_tile lacks a version, or has other values for it', {
    advice: '`tilecouch check --fix` rebuilds the index.',
    fix: 'the index is rebuilt; the old one serves meanwhile'
  }),
  'index-too-long': fault('the view versions/by_tile has more versions of the layer than there are documents', {
    fix: 'the index is rebuilt; the old one serves meanwhile'
  }),

  'version-twice': warning('one past version is stored twice: at its own time and at an earlier second', {
    fix: 'the earlier one stays, the later one is deleted'
  }),
  'odd-time': warning('a version that was stored in the future: the clock of the machine that wrote it was wrong', {
    advice: 'Set the clock of that machine. The tile is fetched again when it is loaded or seeded.'
  }),
  'future-time': warning('an edition or a tile has a time in the future: loads for earlier times do not show', {
    advice: 'If the time is a mistake: `tilecouch remove LAYER --edition TIME`, then load it again for the right one.'
  }),
  'wrong-sums': fault('a view has wrong sums: counts and estimates are wrong', {
    advice: '`tilecouch check --fix` rebuilds the index.',
    fix: 'the index is rebuilt; the old one serves meanwhile'
  }),

  // the layer and its editions
  'no-layer': fault('there are tiles, but no document of the layer', {
    advice: 'Make it with `tilecouch layer NAME`, or let `tilecouch check --fix` make it from the tiles.',
    fix: 'the document is made from the tiles: format, zooms, bounds'
  }),
  'reserved-name': warning('the name of the layer is reserved (a type of document, or `db`): no address leads to it', {
    advice: '`tilecouch copy NAME NEW --move`, before the store is mirrored.'
  }),
  'bad-layer': fault('a field of the layer document is not valid: the document is ignored', {
    advice: '`tilecouch layer NAME` corrects the fields it has options for; correct others in the database.',
    fix: 'type and name become those of the id; swapped zooms those of the tiles; other fields are left'
  }),
  'bad-style': fault('a style whose id or fields are not valid', {
    advice: 'Remove it with `tilecouch remove LAYER --style TIME`, and store it again.'
  }),
  'bad-edition': fault('an edition whose id, time or counts are not valid', {
    advice: 'Run that load again with `--time`: it writes the edition again. Delete one whose id is not valid.'
  }),
  'unfinished-edition': warning('an edition whose load did not end', {
    advice: 'Run that load again with `--time` and the time of the edition: it resumes.'
  }),
  'unfinished-removal': warning('a removal that did not end', {
    advice: 'Run the same `tilecouch remove` again: it goes on. One that runs now needs nothing.'
  }),
  'failed-edition': warning('an edition some of whose tiles could not be loaded', {
    advice: 'Run that load again with `--time` and the time of the edition: it names them, with the reasons.'
  }),
  'short-edition': warning('an edition wrote more versions than there are of its time', {
    advice: 'Somebody removed them. If nobody meant to, run that load again with `--time` and the time of the edition.'
  }),

  'manifest-incomplete': fault('a manifest lacks a part or a block', {
    advice: 'Replication may bring it: run `tilecouch mirror` for every mirrored part. Else load that edition again.'
  }),
  'bad-manifest': fault('a manifest whose id or fields are not valid: its statements are ignored', {
    advice: 'Delete it, and load that edition again.'
  }),
  'bad-removal': fault('a removal whose id or fields are not valid: it removes nothing', {
    advice: 'Delete it, and repeat the removal.'
  }),
  'bad-limits': fault('limits of a layer that are not valid: what the store keeps is not known', {
    advice: 'Delete the document, and mirror that part again.'
  }),
  'block-damaged': fault('a block of digests does not match the digest in its id, or cannot be read', {
    advice: 'Delete the document; then `tilecouch mirror` copies it from another store, or load its editions again.'
  }),
  'wrong-root': fault('the root of an edition does not match its manifest', {
    advice: 'Somebody changed the manifest or the edition: load that edition again, or mirror it again.'
  }),
  'not-settled': fault('the versions of a tile are not what the statements about it say', {
    advice: '`tilecouch check --fix`.',
    fix: 'the versions become what all statements about the tile say'
  }),
  'image-missing': fault('an edition has a tile whose image is not in the store', {
    advice: 'Load the edition that is named again.'
  }),

  'stray-edition': warning('an edition of a layer that has neither a document nor tiles', {
    advice: 'Delete it, or load that layer again.'
  }),

  // the store as a whole
  'no-mark': warning('the database is not marked as a store: another program, or replication of a part, filled it', {
    advice: '`tilecouch check --fix` marks it.',
    fix: 'the document that marks a store is written'
  }),
  'bad-mark': fault('the document `tilecouch`, which marks a store, has wrong fields', {
    fix: '`type`, `schema` and `uuid` are corrected; other fields stay'
  }),
  unpublished: warning('the store was never published: it has no design documents yet', {
    advice: 'Load it, then `tilecouch push`.'
  }),
  'foreign-document': warning('a document of an unknown kind', {
    advice: 'tilecouch does not use it. Move it to a database of its own.'
  }),
  'no-design': fault('a design document of the store is missing', {
    advice: '`tilecouch push` deploys it.',
    fix: 'the one of this tilecouch is pushed'
  }),
  'other-design': warning('a design document is not that of this tilecouch', {
    advice: '`tilecouch check --only upgrade --fix` brings it up to date, unless a newer program wrote it.'
  }),
  'no-validation': fault('everybody may read the store, and nothing checks who writes into it', {
    advice: '`tilecouch push` deploys the validation function.',
    fix: 'the design document `tiles` of this tilecouch is pushed'
  }),
  'foreign-design': warning('a design document of another program: its functions run in this database', {
    advice: 'Delete it unless you know what it is for.'
  }),
  'left-staging': warning('a temporary design document, left by a push that was stopped while it built an index', {
    advice: 'Run `tilecouch push` again: it resumes.',
    fix: 'the staging document is deleted if the design document is already ours'
  }),

  // files
  'no-tiles': fault('no tile was found', { advice: 'Check the path, --zoom, --bbox and --polygon.' }),
  'damaged-file': fault('the container itself is damaged: a part of it cannot be read', {
    advice: 'Fetch or make it again.'
  }),
  'bad-structure': fault('the container can be read, but breaks a rule of its format'),
  'odd-structure': warning('the container is readable, but not as its format advises'),
  'bad-metadata': fault('metadata that must be there is missing, or is not valid'),
  'not-a-tile-name': warning('a file name that is almost that of a tile: the file is not loaded'),
  'unused-bytes': warning('bytes that no tile refers to')
}
