/*
 * Stays connected to the relay of the site, wherever it runs.
 *
 *   hbmk2 relay_client.prg
 *   relay_client W:\socket\relay_leader.json 4711 POS-01
 *
 * RelayFind() and the loop in RelayFollow() are what an Agent needs. RelayGreet()
 * and RelayFrame() speak the protocol of floatrelay's stand-in relay (a length of
 * four bytes, most significant first, and that many bytes of JSON): put the
 * Agent's own protocol in their place.
 *
 * Harbour 3.2 or newer; the only library is its run-time library.
 */

#define RELAY_IP      1
#define RELAY_PORT    2
#define RELAY_EPOCH   3

#define LOOK_MS       500      /* between two looks at the file */
#define CONNECT_MS    2000     /* for a connect, a send or a whole frame */
#define FRAME_MAX     1048576  /* bytes */

PROCEDURE Main( cView, cKmsn, cStation )

   IF PCount() < 3
      ? "usage: relay_client <relay_leader.json> <KMSN> <STATION>"
      ErrorLevel( 2 )
      RETURN
   ENDIF
   hb_inetInit()
   RelayFollow( cView, cKmsn, cStation )
   hb_inetCleanup()

   RETURN

/* Connects, follows the epoch, reconnects. ESC ends it. */

PROCEDURE RelayFollow( cView, cKmsn, cStation )

   LOCAL aRelay

   DO WHILE Inkey( 0.2 + hb_Random( 0.2 ) ) != 27
      /* All Agents lose the relay at the same moment; the random part keeps
         them from coming back at the same moment. */
      aRelay := RelayFind( cView )
      IF aRelay != NIL
         RelaySession( aRelay, cView, cKmsn, cStation )
      ENDIF
   ENDDO

   RETURN

/* Where the relay is: { ip, port, epoch }. NIL: nobody can tell now, or the
   relay does not accept connections yet. What was known before stays. */

FUNCTION RelayFind( cView )

   LOCAL cText, hView, cIP, nPort, nEpoch, lReady, cState

   /* Opens shared, reads all, closes. "" while the share is away or the file
      is just being replaced. */
   cText := hb_MemoRead( cView )
   IF hb_BLen( cText ) == 0
      RETURN NIL
   ENDIF
   /* By reference: the form that every version of Harbour knows. */
   IF hb_jsonDecode( cText, @hView ) == 0 .OR. !( ValType( hView ) == "H" )
      RETURN NIL
   ENDIF

   cIP    := hb_HGetDef( hView, "ip", NIL )
   nPort  := hb_HGetDef( hView, "port", NIL )
   nEpoch := hb_HGetDef( hView, "epoch", NIL )
   IF !( ValType( cIP ) == "C" ) .OR. !( ValType( nPort ) == "N" ) .OR. !( ValType( nEpoch ) == "N" )
      RETURN NIL
   ENDIF
   lReady := hb_HGetDef( hView, "ready", .T. )
   cState := hb_HGetDef( hView, "state", "held" )
   IF !( ValType( lReady ) == "L" ) .OR. ! lReady .OR. !( ValType( cState ) == "C" ) .OR. !( cState == "held" )
      RETURN NIL
   ENDIF

   RETURN { cIP, nPort, nEpoch }

/* One connection, until it is lost or there is a newer relay. */

PROCEDURE RelaySession( aRelay, cView, cKmsn, cStation )

   LOCAL pSocket := hb_inetCreate( CONNECT_MS )
   LOCAL nLooked := hb_MilliSeconds()
   LOCAL nReady, cFrame

   hb_inetConnectIP( aRelay[ RELAY_IP ], aRelay[ RELAY_PORT ], pSocket )
   IF hb_inetErrorCode( pSocket ) == 0 .AND. RelayGreet( pSocket, cKmsn, cStation )
      ? "connected", aRelay[ RELAY_IP ], hb_ntos( aRelay[ RELAY_PORT ] ), ;
        "epoch", hb_ntos( aRelay[ RELAY_EPOCH ] )
      DO WHILE .T.
         nReady := hb_inetDataReady( pSocket, LOOK_MS )
         IF nReady < 0
            EXIT
         ENDIF
         IF nReady > 0
            cFrame := RelayFrame( pSocket )
            IF cFrame == NIL
               EXIT
            ENDIF
            ? "frame", cFrame
         ENDIF
         IF Abs( hb_MilliSeconds() - nLooked ) >= LOOK_MS
            nLooked := hb_MilliSeconds()
            IF RelayReplaced( aRelay, cView )
               EXIT
            ENDIF
         ENDIF
      ENDDO
      ? "lost epoch", hb_ntos( aRelay[ RELAY_EPOCH ] )
   ENDIF
   hb_inetClose( pSocket )

   RETURN

/* A PC that lost its power closes no connection: only a higher epoch tells. A
   lower one is an old copy of the file and means nothing. */

FUNCTION RelayReplaced( aRelay, cView )

   LOCAL aNow := RelayFind( cView )

   RETURN aNow != NIL .AND. aNow[ RELAY_EPOCH ] > aRelay[ RELAY_EPOCH ]

FUNCTION RelayGreet( pSocket, cKmsn, cStation )

   LOCAL hHello := { "type" => "hello", "kmsn" => cKmsn, "station" => cStation }

   RETURN RelaySend( pSocket, hb_jsonEncode( hHello ) ) .AND. RelayFrame( pSocket ) != NIL

FUNCTION RelaySend( pSocket, cBody )

   LOCAL nLen := hb_BLen( cBody )
   LOCAL cAll := hb_BChar( Int( nLen / 16777216 ) % 256 ) + hb_BChar( Int( nLen / 65536 ) % 256 ) + ;
                 hb_BChar( Int( nLen / 256 ) % 256 ) + hb_BChar( nLen % 256 ) + cBody

   RETURN hb_inetSendAll( pSocket, cAll ) == hb_BLen( cAll )

/* The next frame, or NIL if the connection is lost. */

FUNCTION RelayFrame( pSocket )

   LOCAL cHead := Space( 4 ), cBody, nLen

   IF hb_inetRecvAll( pSocket, @cHead, 4 ) != 4
      RETURN NIL
   ENDIF
   nLen := ( ( hb_BCode( cHead ) * 256 + hb_BPeek( cHead, 2 ) ) * 256 + ;
             hb_BPeek( cHead, 3 ) ) * 256 + hb_BPeek( cHead, 4 )
   IF nLen == 0 .OR. nLen > FRAME_MAX
      RETURN NIL
   ENDIF
   cBody := Space( nLen )
   IF hb_inetRecvAll( pSocket, @cBody, nLen ) != nLen
      RETURN NIL
   ENDIF

   RETURN cBody
