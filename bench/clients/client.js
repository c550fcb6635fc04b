// What all clients have in common: a key is the id of a tile (`bench:14:5000:5000`), a value its bytes.

/**
 * @typedef {object} Client
 * @property {(key: string, bytes: Buffer) => Promise<void>} set rejects when it was not stored
 * @property {(key: string) => Promise<Buffer | null>} get null: a miss
 * @property {() => Promise<void>} close
 *
 * @typedef {Client & {delete: (key: string) => Promise<boolean>}} Cache delete: whether it was there
 */

export {}
