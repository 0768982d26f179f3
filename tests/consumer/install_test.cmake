# cmake -D BUILD=... -D SOURCE=... -D WORK=... -D COMPILER=... [-D FLAGS=... -D LAUNCHER=... -D GENERATOR=...] -P
# Installs BUILD into a new prefix, builds the consumer against it, and lets it judge one program of each kind.
function(run)
  cmake_parse_arguments(arg "" "EXPECT;PRINTS" "COMMAND" ${ARGN})
  execute_process(COMMAND ${arg_COMMAND} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL arg_EXPECT OR (arg_PRINTS AND NOT output MATCHES "${arg_PRINTS}"))
    list(JOIN arg_COMMAND " " command)
    message(FATAL_ERROR "${command}\n${output}\nstatus ${status}, expected ${arg_EXPECT} and '${arg_PRINTS}'")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(EXPECT 0 COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(EXPECT 0 COMMAND ${CMAKE_COMMAND} -S ${SOURCE}/tests/consumer -B ${WORK}/build -G ${GENERATOR}
    -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${FLAGS}
    -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -D CMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON)
run(EXPECT 0 COMMAND ${CMAKE_COMMAND} --build ${WORK}/build)
run(EXPECT 0 PRINTS "certified" COMMAND ${WORK}/build/consumer ${SOURCE}/tests/golden/certified-sum.json)
run(EXPECT 1 PRINTS "refuted" COMMAND ${WORK}/build/consumer ${SOURCE}/tests/golden/missing-wait.json)
run(EXPECT 0 PRINTS "certified" COMMAND ${CMAKE_COMMAND} -E chdir ${WORK} ${WORK}/build/emit)
run(EXPECT 1 PRINTS "refuted by liveness" COMMAND ${CMAKE_COMMAND} -E chdir ${WORK} ${WORK}/build/emit --unfused)
run(EXPECT 3 COMMAND ${WORK}/build/consumer ${SOURCE}/README.md)
run(EXPECT 0 PRINTS "spatialcert 0" COMMAND ${WORK}/prefix/bin/spatialcert --version)
file(REMOVE_RECURSE ${WORK})
