// The kinds of documents. validate_doc_update.js has this file inside: it is ES5 except for `export`, and imports
// nothing.

/**
 * The kinds of documents of a layer beside its tiles: their ids begin with KIND:LAYER. Whatever selects documents by
 * their kind (mirrors, feeds, the gateway's access, checks) uses this list, so that none forgets a kind.
 */
export var LAYER_KINDS = ['layer', 'edition', 'style', 'manifest', 'block', 'removed', 'limits']

/** The kinds of documents about the running of a store. */
export var ADMINISTRATIVE_KINDS = ['work', 'activity', 'token']

/** No layer may be called like a kind of document, whose ids begin so, nor `db`, which has other addresses. */
export var RESERVED_NAMES = LAYER_KINDS.concat(ADMINISTRATIVE_KINDS, 'tile', 'db')
