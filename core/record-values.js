// Joins the rules of records, styles and the administration of a store with those of rules.js, whose types they use.
import {
  activityRules, blockRules, limitsRules, manifestRules, recordPatterns, recordTypes, removedRules, storeRules,
  styleRules, tokenRules, workRules
} from './record-rules.js'
import { isValue, textPatterns, valueTypes } from './rules.js'

/** Kind of document -> its fields, each with its rule. */
export const recordFields = addRecordRules()

function addRecordRules () {
  Object.assign(textPatterns, recordPatterns)
  Object.assign(valueTypes, recordTypes(isValue))
  return {
    style: styleRules,
    manifest: manifestRules,
    removed: removedRules,
    limits: limitsRules,
    block: blockRules,
    work: workRules,
    activity: activityRules,
    token: tokenRules,
    store: storeRules
  }
}

/** The numbers of a rule such as `whole 30 36500`: the least and the greatest value. @param {string} rule */
export const limitsOf = rule => /** @type {[number, number]} */ (rule.split(' ').slice(1).map(Number))

/** Whether a value follows a rule: see rules.js. @param {any} value @param {string} rule */
export const isRecordValue = (value, rule) => isValue(value, rule)
