// The fields that documents of work and of activity may have, for tests of their writers.
import { activityDefaults, activityId, workDefaults, workId } from '../../core/index.js'
import { recordFields } from '../../core/record-values.js'
import { isRun } from '../../core/runs.js'

/** @type {Record<string, import('../../core/documents.js').Kind>} */
export const writtenKinds = {
  work: {
    fields: recordFields.work,
    needs: ['command', 'state', 'started', 'seen'],
    most: workDefaults.most,
    isGeneral: true,
    id: ({ _id }) => workId(isRun(String(_id).slice(5)) ? String(_id).slice(5) : 'RUN')
  },
  activity: {
    fields: recordFields.activity,
    needs: ['user', 'at', 'what', 'done'],
    most: activityDefaults.most,
    isGeneral: true,
    id: ({ _id }) => activityId(isRun(String(_id).slice(9)) ? String(_id).slice(9) : 'RUN')
  }
}
