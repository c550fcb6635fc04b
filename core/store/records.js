// The rules for manifests, blocks, removals, limits and styles. core/documents.js has the rules for layers and
// editions.
import { areaFrom } from '../area.js'
import { faultIn } from '../documents.js'
import { blockId, limitsId, manifestId, removedId, styleId } from '../ids.js'
import { isRecordValue, recordFields } from '../record-values.js'
import { hasBlock } from './blocks.js'

const DIGESTS = 32_773 // bytes of the largest block
const STYLE_FILE = 4_194_304 // bytes

/** Whether an area can be read. The rules look at its boxes only. @param {any} area */
function isArea (area) {
  try {
    return area === undefined || Boolean(areaFrom(area))
  } catch (error) {
    return error.code === 'NO_PROJ4' // Reported when the area is used. A record that is ignored would change the map.
  }
}

const areaFault = ({ area }) => isArea(area) ? undefined : 'bad area'

const hasAreas = parts => parts.every(({ area, of = [] }) => isArea(area) && hasAreas(of))

/** @type {Record<string, import('../documents.js').Kind>} */
export const recordKinds = {
  manifest: {
    fields: recordFields.manifest,
    needs: ['time', 'run'],
    most: 1_048_576,
    id: ({ layer, time, run, part }) => manifestId(layer, time, run, part),
    fault ({ blocks, parts, area }) {
      if ((blocks === undefined) === (parts === undefined)) return 'it must have either blocks or parts'
      return areaFault({ area })
    }
  },
  removed: {
    fields: recordFields.removed,
    needs: ['run'],
    most: 1_048_576,
    id: ({ layer, run }) => removedId(layer, run),
    fault: areaFault
  },
  limits: {
    fields: recordFields.limits,
    needs: ['parts'],
    most: 1_048_576, // an area may be as large as that of a manifest
    id: ({ layer }) => limitsId(layer),
    fault: ({ parts }) => hasAreas(parts) ? undefined : 'bad area'
  },
  block: {
    fields: recordFields.block,
    needs: ['z', 'x', 'y'],
    most: 4096,
    id ({ _id, layer, z, x, y }) {
      const name = String(_id).slice(-12)
      return blockId(layer, `${z}:${x}:${y}`, isRecordValue(name, 'block') ? name : 'NAME')
    },
    fault ({ z, x, y, _attachments: attachments }) {
      if (!hasBlock(z, x, y)) return `zoom ${z} has no such block`
      return attachments?.digests?.length > DIGESTS ? `its digests are more than ${DIGESTS} bytes` : undefined
    }
  }
}

/** Documents of styles. @type {Record<string, import('../documents.js').Kind>} */
export const styleKinds = {
  style: {
    fields: recordFields.style,
    needs: ['time', 'style'],
    most: 1_048_576,
    id: ({ layer, time }) => styleId(layer, time),
    // the validation of CouchDB checks the length that a writer states, this rule the stored length
    fault ({ _attachments: files = {} }) {
      const tooLong = Object.keys(files).find(name => files[name].length > STYLE_FILE)
      return tooLong && `its file ${tooLong} is more than ${STYLE_FILE} bytes`
    }
  }
}

/**
 * The fault of a stored manifest, part of a manifest, removal, limits or block, if there is one.
 * @param {any} doc
 */
export const faultInRecord = doc => faultIn(doc, recordKinds)
