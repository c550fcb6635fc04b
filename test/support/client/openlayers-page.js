/* global window -- of the page, in functions that run there */
// The files of a test page with OpenLayers: OpenLayers from npm, our library, and code that reads frames.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { install } from './maps.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const HTML = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><link rel="stylesheet" ' +
  'href="ol.css"><link rel="stylesheet" href="tilecouch.css">' +
  '<style>html,body,#map{height:100%;margin:0}</style><div id="map"></div><script src="page.js"></script>'

let files

/** The files of the page by name: content type and text. @returns {Promise<Record<string, [string, string]>>} */
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
 * Creates `map`, `olLayer` and its source `layer` of the window. By default nothing is fetched in advance.
 * @param {import('playwright-core').Page} page
 * @param {string} layer
 * @param {Record<string, any>} [options] of the layer; and `map`: of its view
 */
const draw = (page, layer, { kind, ...options } = {}) => page.evaluate(
  ([name, layerOptions]) => { window.draw(name, layerOptions) }, [layer, options]
)

/** For onStage of suite.js. */
export const openlayers = { files: openlayersFiles, install, draw }

/** Moves the map at once. @param {[number, number]} place longitude, latitude @param {number} [zoom] */
export const move = (page, place, zoom) => page.evaluate(([to, z]) => { window.move(to, z) }, [place, zoom])

/** A message of Chromium: reading each frame takes time. */
export const READING = /GPU stall due to ReadPixels/
