import { counted } from '../../counted.js'

const number = counted('es')

export const work = {
  states: { running: 'En curso', interrupted: 'Interrumpido', done: 'Terminado', failed: 'Fallido', stopped: 'Detenido' },
  running: { head: 'En curso', none: 'En este momento no se ejecuta ningún comando.' },
  interrupted: {
    head: 'Interrumpidos',
    none: 'Nada se ha interrumpido.',
    lead: 'Estos comandos han callado sin aviso: alguien los mató o su máquina se apagó. Lo que ya hicieron permanece.'
  },
  ended: {
    head: 'Terminados',
    lead: 'Los comandos de los últimos 90 días, los más recientes primero.',
    none: 'Ningún comando ha terminado en los últimos 90 días.',
    noneLike: 'Ningún comando coincide.',
    shown: (shown, all) => shown === all ? `${all} en total` : `${shown} de ${all}`
  },
  columns: { command: 'Comando', result: 'Resultado', ended: 'Fin', lasted: 'Duración', amount: 'Hecho', who: 'Quién', actions: 'Quitar' },
  filters: { command: 'Comando', layer: 'Capa', state: 'Resultado', all: 'Todos' },
  units: { tiles: 'teselas', versions: 'versiones', documents: 'documentos' },
  follow: { reading: 'copia', following: 'al día', away: 'espera a un almacén', starting: 'empieza', stopped: 'detenido', completed: 'completo' },
  ofTotal: (done, total, unit) => `${done} de ${total} ${unit}`.trim(),
  rate: rate => `${rate} por segundo`,
  left: span => `faltan unos ${span}`,
  failures: number({ one: '# fallo', other: '# fallos' }),
  started: when => `empezado ${when}`,
  lastSeen: when => `última señal de vida ${when}`,
  by: user => `por ${user}`,
  on: host => `en ${host}`,
  progress: title => `Progreso de ${title}`,
  goOn: 'Para continuar:',
  again: 'Para hacerlo de nuevo',
  copy: line => `Copiar: ${line}`,
  remove: {
    button: 'Quitar',
    label: title => `Quitar: ${title}`,
    head: command => `¿Quitar esta entrada de ${command}?`,
    text: 'Solo desaparece la entrada. Lo que hizo el comando permanece.',
    action: 'Quitar la entrada'
  },
  start: {
    head: 'Empezar algo',
    lead: 'Estos comandos necesitan Node. Ejecútelos donde esté instalado tilecouch; sin --db toman el almacén que nombra COUCHDB_URL, o el integrado de esa carpeta.',
    command: 'Comando',
    layer: 'Capa',
    newLayer: 'Capa, nueva o no',
    file: 'Carpeta, archivo o dirección',
    all: 'Todas las capas',
    commands: {
      load: 'Carga teselas como una edición de una capa.',
      export: 'Escribe una capa en una carpeta, o en un archivo MBTiles o PMTiles.',
      seed: 'Descarga las teselas de una zona desde el servidor de origen de la capa.',
      prune: 'Elimina versiones pasadas según las reglas de la capa. Con --dry-run solo cuenta.',
      check: 'Busca errores. Con --fix los repara.',
      backup: 'Escribe todo el almacén en un archivo.'
    }
  }
}
