export const access = {
  changed: 'El acceso ha cambiado.',
  clash: {
    head: 'Otra persona ha cambiado el acceso',
    lead: 'La página lo muestra ahora como está. Su cambio se añadirá: nada del otro se pierde.',
    action: 'Cambiarlo de todos modos'
  },
  rights: {
    head: 'Quién puede leer y escribir',
    command: 'Lo mismo como orden:',
    copy: 'Copiar la orden que muestra el acceso'
  },
  reading: {
    public: 'Todos pueden leer este almacén, sin nombre.',
    closed: 'Solo lectores, escritores y administradores pueden leer este almacén.',
    untouched: 'Solo los administradores pueden leer este almacén: nadie lo ha abierto aún.'
  },
  writing: {
    own: () => 'Los escritores de esta lista y los administradores pueden escribir.',
    admins: () => 'Solo los administradores pueden escribir.',
    role: role => `Todo usuario con el rol ${role} puede escribir, aquí y en cualquier otro almacén de este servidor que no nombre escritores.`
  },
  open: {
    head: '¿Abrir este almacén a todos?',
    lead: 'Todos los que lleguen a este CouchDB leerán todas las capas, también las que una pasarela mantiene privadas. La lista de lectores se vacía. Quién puede escribir no cambia.',
    action: 'Abrir a todos',
    refused: 'Este almacén no se puede abrir: sin función de validación todos podrían escribir.'
  },
  close: {
    head: '¿Cerrar este almacén?',
    lead: 'Solo lectores, escritores y administradores lo leerán, con nombre y contraseña. Los mapas de otras páginas que leen este CouchDB sin nombre quedarán vacíos. Una pasarela sigue si su usuario puede leer. Esta página se abrirá entonces en CouchDB solo en un navegador con sesión iniciada allí, por ejemplo en /_utils.',
    action: 'Cerrar el almacén'
  },
  groups: {
    user: 'Usuario',
    role: 'Rol',
    kind: 'Qué',
    name: 'Nombre',
    everybody: 'Todos leen.',
    more: number => `Y ${number} más.`,
    alsoWriter: 'es escritor',
    readers: { name: 'Lectores', add: 'Añadir lector', none: 'Ninguno, salvo los administradores.', remove: name => `Quitar a ${name} de los lectores` },
    writers: { name: 'Escritores', add: 'Añadir escritor', none: 'Ninguno, salvo los administradores.', remove: name => `Quitar a ${name} de los escritores` },
    admins: { name: 'Administradores de este almacén', add: 'Añadir administrador', none: 'Solo los administradores del servidor.', remove: name => `Quitar a ${name} de los administradores` }
  },
  removeAdmin: {
    head: name => `¿Quitar a ${name} de los administradores?`,
    lead: 'Los documentos de diseño, el acceso y los tokens quedarán cerrados para este administrador.',
    self: 'Es usted: esta página le quedará cerrada, y no podrá deshacerlo.',
    action: 'Quitar'
  },
  faults: {
    EVERYBODY_IS_ADMIN: () => 'Este servidor no tiene administrador: todos pueden hacer todo. Dele un administrador ahora.',
    EVERYBODY_WRITES: () => 'TODOS PUEDEN ESCRIBIR: todos pueden leer, y el almacén no tiene función de validación. Ejecute: tilecouch push',
    READERS_WRITE: () => 'Todos los que pueden leer pueden escribir: el almacén no tiene función de validación. Ejecute: tilecouch push',
    OTHER_VALIDATION: () => 'La función de validación no es la de tilecouch. Ejecute: tilecouch push',
    WRITER_SHUT_OUT: (kind, name) => `El ${kind === 'names' ? 'usuario' : 'rol'} ${name} es escritor pero no lector, así que CouchDB no lo deja entrar. Añádalo a los lectores.`
  },
  stranger: {
    head: 'Lo que ve un desconocido',
    lead: 'Preguntado ahora mismo sin nombre ni contraseña. No se ha escrito nada.',
    again: 'Preguntar de nuevo',
    database: 'La base de datos',
    layers: 'Capas',
    map: 'El mapa (TileJSON de una capa)',
    documents: 'Todos los documentos',
    designs: 'Documentos de diseño',
    writes: 'Escritura',
    outcomes: { reads: 'lee', nothing: 'no ve nada', unknown: 'no se sabe' },
    some: (number, all) => `ve ${number} de ${all}`,
    mayWrite: 'puede escribir',
    mayNot: 'no puede escribir',
    gateway: 'Esto es CouchDB mismo. Una pasarela (tilecouch serve) lee con su propio usuario: los desconocidos ven allí todas las capas que no son privadas, aunque este almacén esté cerrado.',
    throughGateway: 'Esto es la pasarela: los desconocidos ven todas las capas que no son privadas, aunque el almacén esté cerrado. A CouchDB mismo no se le ha preguntado.'
  },
  tokens: {
    head: 'Tokens para capas privadas',
    lead: 'Un token muestra a su portador capas privadas en una pasarela (tilecouch serve --private-layers …). Estos están en el almacén: la pasarela rechaza uno en menos de dos segundos tras revocarlo. Los tokens de la orden tilecouch token no figuran aquí: están firmados y no se guardan en ningún sitio.',
    none: 'Aún no hay tokens.',
    name: 'Para',
    layers: 'Capas',
    until: 'Hasta',
    madeBy: 'Creado',
    by: (user, when) => `${user}, ${when}`,
    state: 'Estado',
    change: 'Cambiar',
    states: { valid: 'válido', expired: 'caducado', revoked: 'revocado' },
    new: 'Token nuevo',
    forWhom: 'Para quién o para qué',
    layersHint: 'Nombres y patrones, como survey, draft-*; * son todas las capas; con ! delante, estas no.',
    badLayers: 'Escriba nombres de capas o patrones, como survey, draft-*',
    lasts: 'Válido durante',
    day: 'un día',
    days: number => `${number} días`,
    always: 'sin fin',
    make: 'Crear token',
    once: 'Cópielo ahora: el almacén no guarda copia y no se muestra otra vez. Trátelo como una contraseña.',
    token: 'Token',
    tiles: 'Dirección de las teselas',
    viewer: 'Dirección del visor',
    copy: what => `Copiar: ${what}`,
    replace: 'Escriba la dirección de su pasarela en lugar de maps.example.org. CouchDB mismo no acepta tokens.',
    hide: 'Hecho',
    insecure: 'Los tokens solo se crean en una página cifrada (https) o en localhost: otros podrían leerlos por el camino.',
    revoke: { action: 'Revocar', of: name => `Revocar el token para ${name}`, head: name => `¿Revocar el token para ${name}?`, lead: 'Toda dirección que lo contenga deja de funcionar en dos segundos. No se puede deshacer.' },
    remove: { action: 'Quitar', of: name => `Quitar de la lista el token para ${name}` }
  },
  users: {
    head: 'Usuarios',
    lead: 'Usuarios de este CouchDB que pueden hacer algo aquí por su nombre o un rol. Los administradores del servidor están en su configuración y no figuran aquí.',
    embedded: 'El almacén integrado tiene un administrador y ningún usuario. Para tener usuarios, guarde el almacén en un CouchDB.',
    none: 'Ningún usuario de este CouchDB tiene derechos aquí.',
    name: 'Nombre',
    may: 'Puede',
    roles: 'Roles',
    change: 'Cambiar',
    rights: { admins: 'administrar', writers: 'escribir', readers: 'leer' },
    new: 'Usuario nuevo',
    make: 'Crear usuario',
    made: name => `${name} ya puede iniciar sesión.`,
    exists: name => `Ya hay un usuario ${name} en este servidor.`,
    kind: 'Puede',
    kinds: {
      writer: 'escribir en este almacén',
      reader: 'leer este almacén',
      role: 'escribir por el rol tilecouch-writer, en todos los almacenes de este servidor sin escritores propios'
    },
    password: {
      action: 'Cambiar contraseña',
      of: name => `Cambiar la contraseña de ${name}`,
      name: 'Contraseña',
      twice: 'Contraseña otra vez',
      differ: 'Las dos contraseñas difieren.',
      changed: name => `${name} tiene una contraseña nueva. Las sesiones abiertas duran hasta su fin.`
    },
    take: {
      action: 'Quitar derechos',
      of: name => `Quitar los derechos de ${name}`,
      head: name => `¿Quitar los derechos de ${name}?`,
      lead: 'El nombre sale de las listas de este almacén, y el usuario pierde los roles que cuentan aquí, también para otros almacenes. El usuario y su contraseña quedan.',
      done: name => `${name} ya no tiene derechos aquí.`
    }
  }
}
