// Compares images of sources and devices with the pictures of ../support/client/gallery.js.
import assert from 'node:assert/strict'
import { picture } from '../support/client/gallery.js'

/** @param {Blob} blob */
export const bytesOf = async blob => Buffer.from(await blob.arrayBuffer())

/** Fails unless a blob is the picture of a tile at a step. */
export const assertPicture = async (blob, step, ...tile) =>
  assert.deepEqual(await bytesOf(blob), Buffer.from(picture(step, ...tile)))
