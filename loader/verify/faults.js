// Everything `tilecouch check` can find, once. Programs branch on the code; the level says whether it fails the check.
// fault: something is lost, wrong or cannot be read. warning: readers get by, but somebody should know.

/** @typedef {'fault' | 'warning'} Level */

/** @type {Record<string, {level: Level, means: string, advice?: string}>} */
export const faults = {
  // tiles, wherever they lie
  'empty-tile': { level: 'fault', means: 'a tile has no bytes', advice: 'Fetch or render it again.' },
  'unknown-format': { level: 'fault', means: 'the bytes are no PNG, JPEG, WebP, AVIF or vector tile', advice: 'Often an error page was stored as a tile: fetch it again.' },
  'truncated-tile': { level: 'fault', means: 'the image or vector tile is cut off, or its frame is broken', advice: 'Fetch or render it again.' },
  'undecodable-tile': { level: 'fault', means: 'the frame is whole, but the pixels or features in it cannot be decoded', advice: 'Fetch or render it again.' },
  'oversized-tile': { level: 'fault', means: 'far more bytes or pixels than a tile has; it was not decoded' },
  'unreadable-tile': { level: 'fault', means: 'the tile is listed, but its bytes cannot be read', advice: 'Its file on the disk is damaged: `tilecouch check --fix --from MIRROR`, or restore a backup.' },
  'wrong-type': { level: 'fault', means: 'the content type, format or extension says one thing, the bytes another' },
  'wrong-length': { level: 'fault', means: 'there are more or fewer bytes than the container says' },
  'wrong-digest': { level: 'fault', means: 'the check sum of the bytes is not the one kept beside them', advice: 'A disk or a copy damaged them: `tilecouch check --fix --from MIRROR`, or take the tile from a backup or another copy.' },
  'duplicate-tile': { level: 'fault', means: 'one tile is there more than once', advice: 'Which one a reader shows is chance: remove the others.' },
  'outside-pyramid': { level: 'fault', means: 'a column, row or zoom that no tile can have' },
  'outside-zooms': { level: 'warning', means: 'the tile lies outside of the zooms that the layer or file says it has', advice: 'Widen minzoom and maxzoom, or clients never ask for it.' },
  'outside-bounds': { level: 'warning', means: 'the tile lies outside of the bounds that the layer or file says it has', advice: 'Widen the bounds, or clients never ask for it.' },
  'mixed-formats': { level: 'warning', means: 'an image of another format than the file says its tiles have' },
  'odd-size': { level: 'warning', means: 'the image is not as many pixels wide and high as the tile size, or twice that' },
  'odd-vector-tile': { level: 'warning', means: 'a vector tile that decodes, but breaks a rule of the specification' },

  // documents of a store
  'bad-id': { level: 'fault', means: 'a document among the tiles of the layer whose id is no tile\'s', advice: 'Nobody reads it. Delete it, or store what it holds under the right id.' },
  'not-a-tile': { level: 'fault', means: 'a document with the id of a tile that is none' },
  'fields-disagree': { level: 'fault', means: 'layer, z, x or y of a document are not those of its id' },
  'bad-time': { level: 'fault', means: 'a time that is not like 2024-03-01T00:00:00Z' },
  'time-disagrees': { level: 'fault', means: 'the time of a past version is not that of its id' },
  'wrong-current': { level: 'fault', means: 'a head that does not say it is current, or a past version that does' },
  'gone-with-bytes': { level: 'fault', means: 'a version that says "no tile here any more" and has one', advice: 'Look at the image: remove that version, or load it anew with a later time.' },
  'no-bytes': { level: 'fault', means: 'a version without the attachment `tile` that does not say it is gone' },
  'stray-attachment': { level: 'fault', means: 'an attachment that is not called `tile`' },
  conflict: { level: 'fault', means: 'revisions that nobody has resolved yet', advice: '`tilecouch check --fix`; `--only conflicts` looks for nothing else.' },
  'no-head': { level: 'fault', means: 'a tile with past versions and no head: the current map lacks it', advice: '`tilecouch check --fix` makes the newest past version the head.' },
  'head-too-old': { level: 'fault', means: 'the head is older than a past version of its tile' },
  'two-at-one-time': { level: 'fault', means: 'two versions of a tile at one time with different bytes' },
  'not-in-index': { level: 'fault', means: 'the view versions/by_tile lacks a version, or says something else of it', advice: '`tilecouch check --fix` builds the index anew.' },
  'index-too-long': { level: 'fault', means: 'the view versions/by_tile has more versions of the layer than there are documents' },

  'version-twice': { level: 'warning', means: 'one past version stands in two places: it was moved to an earlier second, since another image had its time, and is there as well' },
  'odd-time': { level: 'warning', means: 'a version that was stored in the future: the clock of who wrote it was wrong, and a ttl counts from there', advice: 'Set the clock of that machine. The tile is fetched again when it is loaded or seeded.' },
  'future-time': { level: 'warning', means: 'an edition, or a tile without one, of a time that is yet to come: what is loaded for an earlier time goes into its past, and the map does not change', advice: 'If the time is a mistake: `tilecouch remove LAYER --edition TIME`, then load it again for the right one.' },
  'wrong-sums': { level: 'fault', means: 'a view sums up more or less than there is: counts and estimates are wrong', advice: '`tilecouch check --fix` builds the index anew.' },

  // the layer and its editions
  'no-layer': { level: 'fault', means: 'there are tiles, but no document of the layer', advice: 'Make it with `tilecouch layer NAME`, or let `tilecouch check --fix` make it of the tiles.' },
  'reserved-name': { level: 'warning', means: 'the layer is called like a kind of document, or `db`: addresses do not reach it, and nothing new can be stored in it', advice: '`tilecouch copy NAME NEW --move`, before the store is mirrored.' },
  'bad-layer': { level: 'fault', means: 'a field of the layer document is not valid: nobody uses the document', advice: '`tilecouch layer NAME` writes a field anew; what it has no option for, put right in the database.' },
  'bad-edition': { level: 'fault', means: 'an edition whose id, time or counts are not valid', advice: 'Run that load again with `--time`: it writes the edition anew. Delete one whose id is not valid.' },
  'unfinished-edition': { level: 'warning', means: 'an edition whose load did not end', advice: 'Run that load again with `--time` and the time of the edition: it resumes.' },
  'failed-edition': { level: 'warning', means: 'an edition some of whose tiles could not be loaded', advice: 'Run that load again with `--time` and the time of the edition: it says which, and why.' },
  'short-edition': { level: 'warning', means: 'an edition wrote more versions than there are of its time', advice: 'Somebody removed them. If nobody meant to, run that load again with `--time` and the time of the edition.' },

  'manifest-incomplete': { level: 'fault', means: 'a part or a block of what an edition said is not here', advice: 'Replication may bring it: `tilecouch mirror`. Else load that edition again.' },
  'bad-manifest': { level: 'fault', means: 'a manifest whose id or fields are not valid: what it says counts nowhere', advice: 'Delete it, and load that edition again.' },
  'bad-removal': { level: 'fault', means: 'a removal whose id or fields are not valid: nothing is taken out by it', advice: 'Delete it, and remove again what it was to take out.' },
  'block-damaged': { level: 'fault', means: 'a block of digests whose bytes are not those it is named by, or cannot be read', advice: 'Delete the document; then `tilecouch mirror` brings it from another copy, or load its editions again.' },
  'wrong-root': { level: 'fault', means: 'the root of an edition is not that of what its manifest says', advice: 'Somebody changed the manifest or the edition: load that edition again, or mirror it anew.' },
  'not-settled': { level: 'fault', means: 'the versions of a tile do not follow from what editions said', advice: '`tilecouch check --fix`.' },
  'image-missing': { level: 'fault', means: 'an edition said what a tile showed, and its image is nowhere in the store', advice: 'Load the edition that is named again.' },

  'stray-edition': { level: 'warning', means: 'an edition of a layer that is not there: it has neither a document nor tiles', advice: 'Delete it, or load that layer again.' },

  // the store as a whole
  'no-mark': { level: 'warning', means: 'the database is not marked as a store: another program, or replication of a part, has filled it', advice: '`tilecouch check --fix` marks it.' },
  'bad-mark': { level: 'fault', means: 'the document `tilecouch`, which marks a store, does not say what it should' },
  unpublished: { level: 'warning', means: 'the store was never published: it has no design documents yet', advice: 'Load it, then `tilecouch push`.' },
  'foreign-document': { level: 'warning', means: 'a document of no kind that a store has', advice: 'Nobody reads it here. Move it to a database of its own.' },
  'no-design': { level: 'fault', means: 'a design document of the store is missing', advice: '`tilecouch push` brings it.' },
  'other-design': { level: 'warning', means: 'a design document is not that of this tilecouch', advice: '`tilecouch check --only upgrade --fix` brings it up to date, unless a newer program wrote it.' },
  'no-validation': { level: 'fault', means: 'everybody may read the store, and nothing checks who writes into it', advice: '`tilecouch push` brings the validation function.' },
  'foreign-design': { level: 'warning', means: 'a design document of somebody else: its functions run in this database', advice: 'Delete it unless you know whose it is and what for.' },
  'left-staging': { level: 'warning', means: 'a design document that was only there to build an index: a push was stopped', advice: 'Run `tilecouch push` again: it resumes.' },

  // files
  'no-tiles': { level: 'fault', means: 'there is no tile', advice: 'Check the path, --zoom, --bbox and --polygon.' },
  'damaged-file': { level: 'fault', means: 'the container itself is damaged: a part of it cannot be read', advice: 'Fetch or make it again.' },
  'bad-structure': { level: 'fault', means: 'the container can be read, but breaks a rule of its format' },
  'odd-structure': { level: 'warning', means: 'the container is readable, but not as its format advises' },
  'wrong-count': { level: 'fault', means: 'a number kept in the file is not what was counted' },
  'bad-metadata': { level: 'fault', means: 'metadata that must be there is missing, or is not valid' },
  'sparse-metadata': { level: 'warning', means: 'metadata that should be there is missing' },
  'metadata-disagrees': { level: 'warning', means: 'metadata says something else than the tiles' },
  'unsafe-name': { level: 'fault', means: 'a name that leads out of the folder an archive is unpacked to' },
  'not-a-tile-name': { level: 'warning', means: 'a name that looks like a tile\'s, but is none: it is not loaded' },
  'unused-bytes': { level: 'warning', means: 'bytes that no tile refers to' }
}
