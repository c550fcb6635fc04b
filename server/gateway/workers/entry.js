// The program of a worker process, which node:cluster runs.
import { startGateway } from '../index.js'
import { serveAsWorker } from './worker.js'

serveAsWorker(startGateway)
