/* global window -- of the page, in functions that run there */
// What a page of a test with OpenLayers consists of: the library of the map as npm has it, ours, and what reads frames.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { install } from './maps.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const HTML = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><link rel="stylesheet" ' +
  'href="ol.css"><link rel="stylesheet" href="tilecouch.css">' +
  '<style>html,body,#map{height:100%;margin:0}</style><div id="map"></div><script src="page.js"></script>'

let files

/** By name: content type and text. @returns {Promise<Record<string, [string, string]>>} */
export function openlayersFiles () {
  files ??= Promise.all([
    build({
      entryPoints: {
        page: `${root}test/support/client/openlayers-in-page.js`, tilecouch: `${root}client/tilecouch.css`
      },
      outdir: '/out',
      bundle: true,
      write: false,
      format: 'iife'
    }),
    readFile(`${root}node_modules/ol/ol.css`, 'utf8')
  ]).then(([{ outputFiles }, css]) => ({
    'index.html': ['text/html', HTML],
    'ol.css': ['text/css', css],
    'page.js': ['text/javascript', outputFiles.find(({ path }) => path.endsWith('.js')).text],
    'tilecouch.css': ['text/css', outputFiles.find(({ path }) => path.endsWith('.css')).text]
  }))
  return files
}

/**
 * Makes `map`, `olLayer` and `layer`, its source, of the window. Nothing is fetched in advance, unless told otherwise.
 * @param {import('playwright-core').Page} page
 * @param {string} layer
 * @param {Record<string, any>} [options] of the layer; and `map`: of its view
 */
const draw = (page, layer, { kind, ...options } = {}) => page.evaluate(
  ([name, given]) => { window.draw(name, given) }, [layer, options]
)

/** For onStage of suite.js. */
export const openlayers = { files: openlayersFiles, install, draw }

/** Moves the map at once. @param {[number, number]} place longitude, latitude @param {number} [zoom] */
export const move = (page, place, zoom) => page.evaluate(([to, z]) => { window.move(to, z) }, [place, zoom])

/** Each frame is read: Chromium says on the console that this takes time. */
export const READING = /GPU stall due to ReadPixels/
