// What manifests, their blocks, removals and limits may hold: see documents.js, which judges layers and editions the
// same way.
import { areaFrom } from '../area.js'
import { count, faultIn, isRun } from '../documents.js'
import { MAX_ZOOM } from '../grid.js'
import { blockId, isTileId, limitsId, manifestId, removedId } from '../ids.js'
import { isExactTime } from '../times.js'
import { flag, listOf, object, text, whole } from '../values.js'
import { hasBlock, isPlace } from './blocks.js'

const PARTS = 1000 // of a layer
const BOXES = 100 // of an area
const DIGESTS = 32_773 // bytes of the largest block

const NAME = /^[\w-]{12}$/
const areNames = listOf(name => typeof name === 'string' && NAME.test(name))

const zoom = whole(0, MAX_ZOOM)

const reach = {
  zooms: value => object(value) && zoom(value.min) && zoom(value.max) && value.min <= value.max,
  area (value) {
    if (!object(value) || !listOf(Array.isArray)(value.boxes) || value.boxes.length > BOXES) return false
    try {
      return Boolean(areaFrom(value))
    } catch (error) {
      return error.code === 'NO_PROJ4' // said when the area is used: a record that is ignored would change the map
    }
  }
}

const partFields = { ...reach, since: isExactTime, current: flag, of: value => listOf(isPart)(value) }

/** Whether a value is a part of a layer: see limits.js. */
const isPart = value => object(value) &&
  Object.entries(value).every(([field, own]) => Object.hasOwn(partFields, field) && partFields[field](own))

/** @type {Record<string, import('../documents.js').Kind>} */
export const recordKinds = {
  manifest: {
    fields: {
      time: isExactTime,
      run: isRun,
      part: count,
      complete: flag,
      tiles: count,
      root: text(100),
      ...reach,
      blocks: value => object(value) && Object.keys(value).every(isPlace) && Object.values(value).every(areNames),
      parts: listOf(isPlace)
    },
    needs: ['time', 'run'],
    most: 1_048_576,
    id: ({ layer, time, run, part }) => manifestId(layer, time, run, part),
    fault ({ blocks, parts }) {
      return (blocks === undefined) === (parts === undefined) ? 'it must have either blocks or parts' : undefined
    }
  },
  removed: {
    fields: {
      run: isRun,
      since: isExactTime,
      until: isExactTime,
      finished: isExactTime,
      ...reach,
      tiles: listOf(isTileId),
      runs: listOf(isRun)
    },
    needs: ['run'],
    most: 1_048_576,
    id: ({ layer, run }) => removedId(layer, run)
  },
  limits: {
    fields: { parts: value => listOf(isPart)(value) && value.length <= PARTS, own: flag },
    needs: ['parts'],
    most: 1_048_576, // an area may be as large as that of a manifest
    id: ({ layer }) => limitsId(layer)
  },
  block: {
    fields: { z: zoom, x: count, y: count },
    needs: ['z', 'x', 'y'],
    most: 4096,
    id: ({ _id, layer, z, x, y }) => blockId(layer, `${z}:${x}:${y}`, NAME.exec(String(_id).slice(-12))?.[0] ?? 'NAME'),
    fault ({ z, x, y, _attachments: attachments }) {
      if (!hasBlock(z, x, y)) return `zoom ${z} has no such block`
      return attachments?.digests?.length > DIGESTS ? `its digests are more than ${DIGESTS} bytes` : undefined
    }
  }
}

/**
 * What is wrong with a manifest, a part of one, a removal, limits or a block, if anything.
 * @param {any} doc as it is stored
 */
export const faultInRecord = doc => faultIn(doc, recordKinds)
