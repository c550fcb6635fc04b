// What `tilecouch check --repair` mends, once: docs/checking.md shows this table. What is not here has no answer that is right
// for everybody, and is left to a person.

/** @type {Record<string, {comes: string, does: string, right: string}>} code of a finding -> how it comes about, what is done, why that is right */
export const repairs = {
  'fields-disagree': {
    comes: 'another program, or a script, wrote the document before there was a validation function', does: 'layer, z, x and y become those of the id',
    right: 'readers find a tile by its id: the map shows it there already'
  },
  'wrong-current': { comes: 'the same', does: '`current` becomes true for a head, false for a past version', right: 'the id says which of the two it is' },
  'time-disagrees': { comes: 'the same', does: 'the time of a past version becomes that of its id', right: 'as-of answers go by the id' },
  'bad-time': {
    comes: 'another program writes `2024-03-01T01:00:00+01:00`, or fractions of a second', does: 'it is written as UTC in whole seconds, where it says one second; else it is left',
    right: 'the same moment, written as everybody reads it'
  },
  'not-a-tile': { comes: 'another program left out the type', does: '`type: "tile"`, where there is none and everything else is a tile\'s; another type is left', right: 'nothing else can have this id' },
  'wrong-type': { comes: 'a program believed the name of a file', does: 'the content type becomes that of the bytes', right: 'browsers and decoders go by the bytes' },
  'no-bytes': { comes: 'a program gave the tile another name', does: 'the only attachment becomes `tile`, where it is an image; else it is left', right: 'it is the only thing the version can show' },
  'stray-attachment': {
    comes: 'a program attached something of its own', does: 'what is not called `tile` goes',
    right: 'nobody reads it there, and the validation function takes no such document'
  },
  conflict: {
    comes: 'two masters were loaded apart and replicated', does: 'as `tilecouch resolve`: the newest stays, the others become its past; layers, editions and the mark are put together',
    right: 'no version is lost, and every master comes to the same. Of a design document that is ours the losing revisions are ended'
  },
  'head-too-old': { comes: 'a program that knows no versions overwrote the head, or a replication brought a newer past', does: 'the newest past version becomes the head, the head of before a past version', right: 'the head is the newest version, and none is lost' },
  'two-at-one-time': { comes: 'two masters loaded different images for one time', does: 'the head keeps the time, the other moves to the second before', right: 'as `tilecouch resolve` does: both are kept, in the same order everywhere' },
  'no-head': {
    comes: 'somebody deleted the head by hand, or a program cleaned its cache', does: 'the newest past version becomes the head, and is then ended in the past',
    right: '`tilecouch remove` ends the past first and the head last: a past without a head is never a removal that was stopped'
  },
  'version-twice': { comes: 'masters moved a version that was contested at different moments', does: 'the earlier place stays, the later one is ended', right: 'as when conflicts are resolved: no two masters can end both' },
  'not-settled': {
    comes: 'two stores that were loaded apart were merged, or a load or a removal was killed and never run again', does: 'the versions are made what all editions and single writes say, as `tilecouch resolve` does',
    right: 'what was said does not depend on the order in which it came. An image that is nowhere is never guessed'
  },
  'no-layer': { comes: 'another program wrote tiles, or only tiles were replicated', does: 'the document is made of what the tiles are: format, zooms, bounds', right: 'clients get the map they could have had' },
  'bad-layer': { comes: 'somebody edited the document', does: 'type and name become those of the id; zooms that are the wrong way round those of the tiles; other fields are left', right: 'the id and the tiles say it' },
  'outside-zooms': { comes: 'another program wrote tiles, or somebody narrowed the layer', does: 'minzoom and maxzoom reach as far as the tiles', right: 'clients ask for what is there. Whoever hides zooms on purpose removes the tiles' },
  'outside-bounds': { comes: 'the same', does: 'the bounds reach as far as the tiles', right: 'the same' },
  'not-in-index': { comes: 'the disk of the index was damaged, or files of it were put back from a backup', does: 'the index is built anew beside the old one, which serves meanwhile', right: 'an index holds nothing that the documents do not say' },
  'index-too-long': { comes: 'the same; and CouchDB forgets purges in an index that was not up to date when the database was compacted', does: 'the same', right: 'the same' },
  'wrong-sums': { comes: 'the same as with the two above', does: 'the same', right: 'the same' },
  'no-mark': { comes: 'another program, or replication of a part, filled the database', does: 'the mark is written, as `tilecouch migrate` does', right: 'it says what everybody can see: this is a store' },
  'bad-mark': { comes: 'somebody edited the document', does: '`type` and `schema` are put right; what else it says stays', right: 'the id is kept for the mark' },
  'no-design': { comes: 'somebody deleted it, or a replication without rights left it out', does: 'that of this tilecouch is pushed', right: 'there is only one of this name' },
  'no-validation': { comes: 'the store was opened before it was published', does: 'the design document `tiles` of this tilecouch is pushed', right: 'without it everybody who reads may write' },
  'left-staging': { comes: 'a push was killed after its last step but one', does: 'the staging document is deleted where the design document is already ours', right: 'its index is built, and has its place. Else it is left: a push that is run again goes on with it' }
}
